"""The suites of machine code that does what it must not beside a neighbour; on a stand-in."""

import unittest

from harness.tests.suites import test_suites


class OffendersSuitesTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_endless(self):
        ended = "echo sync: 702 cudaErrorLaunchTimeout; exit 1"
        neighbour = 'echo begun; read -r line; sleep $LATE; echo "sums: 9 right, $WRONG wrong"'
        cases = ((0, 0, "yes", "yes | sums: 9 right, 0 wrong"), (1, 0, "yes", "NO | sums: 9 right, 1 wrong"), (0, 0.9, "NO", "yes | sums: 9 right, 0 wrong"))
        for wrong, late, gone, last in cases:
            script = f"#!/bin/sh\nWRONG={wrong}\nLATE={late}\n[ \"$TESSERA_FENCE_LOOPS\" = off ] && WRONG=7\nif [ $1 = neighbour ]; then {neighbour}; else {ended}; fi\n"
            test_suites._executable(self.path("home", "programs", "offenders"), script)
            record, text = self.run_suite("endless", TIMEOUT_S=20, NEXT_S=late or 60, KERNELS=("word",), SLEEP="raise SystemExit('no error')")
            self.assertEqual([], record.problems)
            self.assertRegex(text, r"\| word \| " + gone + r" \| \d+.\d+ \| " + last.replace("|", r"\|"))
            self.assertRegex(text, r"\| torch.cuda._sleep \| NO \|")
            self.assertRegex(text, r"(?s)without looks.*\| word-off \| " + gone + r" \| \d+.\d+ \| NO \| sums: 9 right, 7 wrong")

    def test_strays(self):
        script = """#!/bin/sh
case $1 in
neighbour) echo begun; read -r line; echo "sums: 9 right, 0 wrong" ;;
*) [ "$2" = 4092 ] || [ "$2" = 68719476736 ] || { echo "wrote outside of its memory"; echo "cudaErrorIllegalAddress"; exit 1; } ;;
esac
"""
        test_suites._executable(self.path("home", "programs", "offenders"), script)
        record, text = self.run_suite("strays", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| 4 GB before | yes | yes | yes |", text)
        self.assertIn("| 64 GiB behind | NO | NO | yes |", text)
        self.assertIn("| its own memory | NO | yes | yes |", text)

    def test_machine_faults(self):
        script = """#!/bin/sh
case $1 in
neighbour) echo begun; read -r line; echo "sums: 9 right, 0 wrong" ;;
trap) echo "trap: 0 cudaSuccess"; echo "trap: 719 cudaErrorLaunchFailure"; exit 1 ;;
*) exit 1 ;;
esac
"""
        test_suites._executable(self.path("home", "programs", "offenders"), script)
        record, text = self.run_suite("machine_faults", TIMEOUT_S=20, FAULTS=("trap", "stack"))
        self.assertEqual([], record.problems)
        self.assertIn("| trap | 719 cudaErrorLaunchFailure | 719 cudaErrorLaunchFailure | yes |", text)
        self.assertIn("| stack | none told | none told | yes |", text)


if __name__ == "__main__":
    unittest.main()
