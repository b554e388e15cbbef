"""The suite of grids that take long; on a stand-in."""

import os
import unittest

from harness.tests.suites import test_suites

_GRIDS = """#!/bin/sh
case $1 in
batch | waves) echo ready; sleep 0.2; echo '{"blocks":9,"turns":5,"ms":200.0,"turns_per_ms":7,"right":true}' ;;
*) echo '{"count":300,"first_ms":40.0,"p50_ms":1.5,"p99_ms":2.5,"max_ms":3.5}' ;;
esac
"""


class GridsSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_grids(self):
        test_suites._executable(self.path("home", "programs", "grids"), _GRIDS)
        record, text = self.run_suite("grids", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertEqual(6, sum(one["kind"] == "asked" for one in record.results))
        for way in ("time-slicing", "MPS", "relay", "relay whole", "relay, one wave", "relay, one wave, replayable"):
            self.assertIn(f"| {way} | 40.00 | 1.500 | 2.500 | 3.500 | 200.0 | 1.000 | 1.000 | yes |", text)
        folder = self.setting.directory
        managers = sorted(name for name in os.listdir(folder) if name.endswith("-manager.log"))
        self.assertEqual([f"manager-{i}-manager.log" for i in (2, 3, 4)] + ["manager-manager.log"], managers)  # each of the suite's managers


if __name__ == "__main__":
    unittest.main()
