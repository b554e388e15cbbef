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

    def test_odd_calls(self):
        script = """#!/bin/sh
case $1 in
--list) printf 'fine\\tdoes no harm\\ncrash\\tends its process\\nhang\\tdoes not end\\nkill\\tends the neighbour\\nlast\\tdoes no harm\\n' ;;
--neighbour) rm -f $HERE/killed; echo ready; echo begun
    while read -r line; do [ -e $HERE/killed ] && exit 1; echo "rounds: 9 right, 0 wrong, longest 2.5 ms"; done ;;
crash) echo "cuOne(1) = "; kill -SEGV $$ ;;
hang) echo "cuTwo() = "; exec sleep 60 ;;
kill) touch $HERE/killed; echo "context: works"; echo done ;;
*) echo "cuThree() = 0 CUDA_SUCCESS"; echo "context: works"; echo done ;;
esac
""".replace("$HERE", self.folder)
        test_suites._executable(self.path("home", "programs", "odd_calls"), script)
        record, text = self.run_suite("odd_calls", LIMIT_S=1, START_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| tried by relay | 5 |", text)
        self.assertIn("| end the executor or disturb a neighbour, by relay | 1 |", text)
        self.assertIn("| hang natively | 1 |", text)
        self.assertIn("| crash | SIGSEGV | SIGSEGV | yes | yes | 2.500 | cuOne(1) = | cuOne(1) = |", text)
        self.assertIn("| kill | done | done | yes | NO | – | done | done |", text)
        self.assertNotIn("| last |", text)


if __name__ == "__main__":
    unittest.main()
