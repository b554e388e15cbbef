"""The suite of shares by weight, from its first step to its table, on stand-ins."""

import unittest

from harness.suites.together import shares
from harness.tests.suites import test_suites


class SharesSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_shares(self):
        record, text = self.run_suite(
            "shares",
            WINDOW_S={shares.TIME: 0.2, shares.SPACE: 0.2},
            WINDOWS=3,
            SETTLE_S=0.1,
            CASES={"50:50 fifo": ("fifo", (1, 1)), "50:25:25": ("fair", (2, 1, 1)), "75:25 by relay": ("fair", (3, 1), shares.SPACE)},
        )
        self.assertEqual([], record.problems)
        self.assertIn("| 50:50 fifo | fifo | exclusive |", text)
        self.assertIn("| 1.000 |", text)
        self.assertIn("| 75:25 by relay | fair |", text)
        # The stand-ins are equally fast, so the tenant that should have half has a third.
        (relayed,) = (result for result in record.results if result["case"] == "75:25 by relay")
        self.assertEqual("space", relayed["share"])
        (one,) = (result for result in record.results if result["case"] == "50:25:25")
        for distance in shares.distances(one):
            self.assertAlmostEqual(1 / 6, distance, delta=0.08)
