"""The suite of endless kernels of machine code; on a stand-in."""

import unittest

from harness.tests import test_suites


class EndlessSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_endless(self):
        ended = "echo sync: 702 cudaErrorLaunchTimeout; exit 1"
        neighbour = 'echo begun; read -r line; sleep $LATE; echo "sums: 9 right, $WRONG wrong"'
        cases = ((0, 0, "yes", "yes | sums: 9 right, 0 wrong"), (1, 0, "yes", "NO | sums: 9 right, 1 wrong"), (0, 1, "NO", "yes | sums: 9 right, 0 wrong"))
        for wrong, late, gone, last in cases:
            script = f"#!/bin/sh\nWRONG={wrong}\nLATE={late}\nif [ $1 = neighbour ]; then {neighbour}; else {ended}; fi\n"
            test_suites._executable(self.path("home", "programs", "endless"), script)
            record, text = self.run_suite("endless", TIMEOUT_S=20, NEXT_S=0.9, KERNELS=("word",), SLEEP="raise SystemExit('no error')")
            self.assertEqual([], record.problems)
            self.assertRegex(text, r"\| word \| " + gone + r" \| \d+.\d+ \| " + last.replace("|", r"\|"))
            self.assertRegex(text, r"\| torch.cuda._sleep \| NO \|")


if __name__ == "__main__":
    unittest.main()
