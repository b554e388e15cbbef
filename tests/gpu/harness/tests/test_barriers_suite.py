"""The suite that finds out which uses of an mbarrier end a context; on a stand-in."""

import unittest

from harness.tests import test_suites

#: Every process runs what is left up to the first that ends its context; one ends before it says anything.
_BARRIERS = """#!/bin/sh
[ "$1" != --list ] || { echo good; echo zeros; echo waits; echo bit_0; echo bit_1; exit 0; }
for probe in "$@"; do
    case $probe in
    good|bit_1) echo "{\\"probe\\":\\"$probe\\",\\"ended\\":\\"nothing\\",\\"made\\":\\"0a\\",\\"over\\":1}" ;;
    waits) echo broken >&2; exit 2 ;;
    *) echo "{\\"probe\\":\\"$probe\\",\\"ended\\":\\"FAULT\\"}"; exit 0 ;;
    esac
done
"""


class BarriersSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_barriers(self):
        test_suites._executable(self.path("home", "programs", "barriers"), _BARRIERS)
        record, text = self.run_suite("barriers", TIMEOUT_S=20)
        self.assertEqual(["waits"], [problem["step"] for problem in record.problems])
        self.assertIn("| good | nothing | 0a |", text)
        self.assertIn("| zeros | FAULT |", text)
        self.assertIn("| FAULT | 0 |", text)
        self.assertIn("| nothing | 1 |", text)


if __name__ == "__main__":
    unittest.main()
