"""The suite about more memory than the GPU has, from its first step to its tables, on stand-ins."""

import unittest
from unittest import mock

from harness.tests.suites import test_suites


class OversubSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_every_kind_of_case(self):
        scripts = {"_ALLOCATIONS": 'print(\'{"us": 4.0}\')'}
        rates = 'print(\'{"in": 5e10, "out": 5.5e10, "both": [4e10, 5e10]}\')'
        self.enterContext(mock.patch("harness.bandwidth._BANDWIDTH", rates))
        ways = {"swap": ("swap", None), "swap, 1 s turns": ("swap", 1000)}
        self.enterContext(mock.patch.multiple("harness.trainings", WORK_S=0.2, RATE_S=0.1, PHASE_S=0.03, START_S=0, WAYS=ways))
        record, text = self.run_suite(
            "oversub", REPEATS=1, WINDOW_S=0.1, NOTEBOOKS=2,
            NOTEBOOKS_BY={"notebooks": ("uniform", 0.5, lambda chance: chance.uniform(0.05, 0.1))}, EVICT_EVERY_S=0.01, EVICT_STEPS=20, HANDOVER_S=0.2, **scripts,
            CASES=dict.fromkeys(("two busy", "two that fit", "hand-over", "overhead", "notebooks", "forced eager"), 0),
            VARIANTS={"eager": ((), {})},
        )  # fmt: skip
        self.assertEqual([], record.problems)
        self.assertEqual(3, sum(one["kind"] == "training" for one in record.results))
        self.assertIn("| two busy |", text)
        self.assertIn("| two busy | swap, 1 s turns |", text)
        self.assertIn("| allocation and free, µs | 4.000 | 4.000 | 1.000 |", text)
        self.assertIn("| eager | yes |", text)
        self.assertRegex(text, r"\| uniform \| \d+ \| [\d.]+ \|")
