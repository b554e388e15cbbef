"""The suite ops: every verdict, with a stand-in for PyTorch; and how numbers are compared."""

import math
import os
import struct
import unittest
from unittest import mock

from harness import operators
from harness.bench import native
from harness.closeness import difference, numbers
from harness.tests.suites import test_suites
from workloads.operators.operators import chosen


class OpsSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def stand_in(self):
        """Takes the place of workloads/operators/operators.py."""
        os.mkdir(self.path("workloads", "operators"))
        os.symlink(os.path.join(test_suites.HERE, "operators_stand_in.py"), self.path("workloads", "operators", "operators.py"))

    def test_every_verdict(self):
        self.stand_in()
        with mock.patch.multiple(operators, CASE_TIMEOUT_S=1.0):
            record, text = self.run_suite("ops", AGAIN_S=60.0)
        self.assertEqual([], record.problems)
        verdicts = {(one["way"], one["case"].split("/")[1]): one["verdict"] for one in record.results if one["kind"] == "case"}
        for way in ("relay", "relay, two at once", "relay, two at once, reversed", "relay, suspects alone"):
            found = {case: verdict for (where, case), verdict in verdicts.items() if where == way}
            expected = {"wrong": "different", "inexact": "inexact", "fails": "error", "hangs": "error", "loses": "error"}
            self.assertEqual(expected, found, way)
        self.assertNotIn("turns", {way for way, _ in verdicts})
        self.assertIn("| turns | 8 | 7 | 1 | 0 | 0 | 0 | 0 |", text)
        self.assertIn("| relay | 8 | 2 | 1 | 1 | 1 | 3 | 0 |", text)
        self.assertIn("| ops/slow/float32 | relay | 1.000 | 1000 | 1000 |", text)
        self.assertIn("1 differ, at 1 2.0 instead of 1.0", text)
        self.assertIn("relay: 2 cases ended their process", text)
        self.assertEqual([], [name for name in os.listdir(self.folder) if name.endswith(".values") or name.startswith("kernels-")])

    def test_ways_that_run_together_find_the_same(self):
        self.stand_in()
        self.setting.options["together"] = "1"
        with mock.patch.multiple(operators, CASE_TIMEOUT_S=1.0):
            record, text = self.run_suite("ops", AGAIN_S=60.0)
        self.assertEqual([], record.problems)
        self.assertIn("| turns | 8 | 7 | 1 | 0 | 0 | 0 | 0 |", text)
        self.assertIn("| relay | 8 | 2 | 1 | 1 | 1 | 3 | 0 |", text)
        self.assertNotIn("Slow first uses", text)

    def test_first_uses_alone_are_compared_without_kept_code_and_with_it(self):
        self.stand_in()
        self.setting.options["uses"] = "1"
        with mock.patch.multiple(operators, CASE_TIMEOUT_S=1.0):
            record, text = self.run_suite("ops", AGAIN_S=60.0)
        self.assertEqual([], record.problems)
        for way in ("relay, no code kept", "relay, code kept"):
            self.assertIn(f"| ops/slow/float32 | {way} | 1.000 | 1000 | 1000 |", text)
        self.assertNotIn("turns", text)
        self.assertEqual([], [name for name in os.listdir(self.folder) if name.startswith(("code", "kernels-"))])

    def test_when_the_time_is_over_what_was_reached_counts(self):
        self.stand_in()
        run = operators.Run(self.setting, native(), "late", ["--samples=stand still"])
        answers = run.run(5.0)
        self.assertEqual((8, 5), (answers.total, len(answers.cases)))
        self.assertFalse(any(one["ended"] for one in answers.cases.values()))

    def test_an_unknown_option_is_said(self):
        self.setting.options["sample"] = "3"
        record, _ = self.run_suite("ops", AGAIN_S=60.0)
        self.assertIn("--set sample", record.problems[0]["error"])


class ChosenTest(unittest.TestCase):
    NAMES = ["ops/add/float32", "ops/add/int64", "ops/fft.fft2/float32", "modules/nn.Linear/float32", "optimizers/SGD/float32"]

    def test_names_and_patterns(self):
        self.assertEqual([0, 1], chosen(self.NAMES, "add", "1/1", 0, None, False))
        self.assertEqual([2, 3], chosen(self.NAMES, "fft.*,modules/nn.Linear/float32", "1/1", 0, None, False))

    def test_shards_are_all_cases_and_each_once(self):
        parts = [chosen(self.NAMES, "", f"{part}/3", 0, None, False) for part in (1, 2, 3)]
        self.assertEqual([0, 1, 2, 3, 4], sorted(sum(parts, [])))
        with self.assertRaises(ValueError):
            chosen(self.NAMES, "", "4/3", 0, None, False)

    def test_what_is_skipped_is_not_counted(self):
        self.assertEqual([2, 3], chosen(self.NAMES, "", "1/1", 2, 2, False))

    def test_reversed_are_the_same_first_cases(self):
        self.assertEqual([2, 1, 0], chosen(self.NAMES, "", "1/1", 0, 3, True))


class ClosenessTest(unittest.TestCase):
    def test_types_are_read(self):
        self.assertEqual((1.0, -2.0), numbers("bfloat16", struct.pack("<2H", 0x3F80, 0xC000)))
        self.assertEqual((1.5,), numbers("float16", struct.pack("<e", 1.5)))
        self.assertEqual((1, 0), numbers("bool", b"\1\0"))
        self.assertIsNone(numbers("object", b"None"))

    def test_bounds_follow_the_type(self):
        one, other = struct.pack("<2f", 1.0, 100.0), struct.pack("<2f", 1.0 + 1e-5, 100.0)
        self.assertTrue(difference("float32", one, other).close)
        self.assertEqual((1, 0), (difference("float32", one, other).count, difference("float32", one, other).place))
        self.assertFalse(difference("float32", struct.pack("<f", 1.0), struct.pack("<f", 1.001)).close)
        self.assertFalse(difference("int64", struct.pack("<q", 10**12), struct.pack("<q", 10**12 + 1)).close)
        self.assertTrue(difference("float64", struct.pack("<d", 1.0), struct.pack("<d", 1.0 + 1e-12)).close)

    def test_no_bound_holds_for_nan_against_a_number(self):
        found = difference("float32", struct.pack("<f", math.nan), struct.pack("<f", 1.0))
        self.assertEqual(math.inf, found.excess)

    def test_equal_numbers_of_other_bits_are_close(self):
        self.assertEqual(0, difference("float32", struct.pack("<f", 0.0), struct.pack("<f", -0.0)).count)

    def test_other_lengths_differ(self):
        self.assertFalse(difference("float32", b"", struct.pack("<f", 1.0)).close)


if __name__ == "__main__":
    unittest.main()
