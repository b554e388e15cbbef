"""The suite that finds out what stands still with a stream; on a stand-in."""

import unittest

from harness.tests.suites import test_suites

_STANDING = """#!/bin/sh
[ "$1" != list ] || { echo nothing; echo load a module; echo broken; exit 0; }
case $2 in
nothing) echo "{\\"operation\\":\\"$2\\",\\"how\\":\\"$1\\",\\"error\\":0,\\"ms\\":0.25,\\"query_ms\\":0.125,\\"launch_ms\\":1.5,\\"end_ms\\":3.5,\\"after\\":0}" ;;
load*) echo "{\\"operation\\":\\"$2\\",\\"how\\":\\"$1\\",\\"error\\":0,\\"ms\\":-1.00,\\"query_ms\\":0.125,\\"launch_ms\\":-1.00,\\"end_ms\\":4.5,\\"after\\":0}" ;;
*) echo no such thing >&2; exit 1 ;;
esac
"""


class StandingSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_standing(self):
        test_suites._executable(self.path("home", "programs", "standing"), _STANDING)
        record, text = self.run_suite("standing", TIMEOUT_S=20)
        self.assertEqual(["broken, wait", "broken, managed"], [problem["step"] for problem in record.problems])
        self.assertIn("| nothing | 0.250 | 0.125 | 1.500 | 0.250 | 0.125 | 1.500 | 3.500 |", text)
        self.assertIn("| load a module | waits | 0.125 | waits | waits | 0.125 | waits | 4.500 |", text)


if __name__ == "__main__":
    unittest.main()
