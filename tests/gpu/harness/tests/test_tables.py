"""Markdown from raw records: figures, verdicts and absent values."""

import json
import os
import tempfile
import unittest

from harness.figures import number, quantile, ratio, summary, verdict
from harness.record import Record
from harness.suites import load
from harness.table import Table, header, render


class FiguresTest(unittest.TestCase):
    def test_summary(self):
        self.assertEqual({"median": 3, "low": 2, "high": 5, "count": 3, "spread": 1.0}, summary([5, 2, 3]))
        with self.assertRaises(ValueError):
            summary([])

    def test_numbers_keep_four_digits(self):
        self.assertEqual(
            ["1234", "123.5", "12.35", "1.235", "0.012", "–", "yes", "NO", "7"],
            [number(value) for value in (1234.4, 123.46, 12.346, 1.2346, 0.0123, None, True, False, 7)],
        )

    def test_quantile_is_a_value_that_was_measured(self):
        self.assertEqual(10, quantile(range(1, 11), 0.9))
        self.assertEqual(1, quantile([1], 0.9))

    def test_ratio_and_verdict_of_missing_values(self):
        self.assertIsNone(ratio([], [1.0]))
        self.assertIsNone(ratio([1.0], []))
        self.assertEqual("–", verdict(None, 1))
        self.assertEqual(("met", "missed"), (verdict(0.995, 0.995), verdict(0.9949, 0.995)))
        self.assertEqual(("met", "missed"), (verdict(2, 2, at_least=False), verdict(2.1, 2, at_least=False)))


class TableTest(unittest.TestCase):
    def test_markdown(self):
        text = Table("Title", ("a", "b"), (("x|y", 1.5), (None, True)), ("note",)).markdown()
        self.assertEqual("### Title\n\n| a | b |\n|---|---:|\n| x\\|y | 1.500 |\n| – | yes |\n\n- note\n\n", text)

    def test_a_row_of_another_width_is_refused(self):
        with self.assertRaises(ValueError):
            Table("Title", ("a", "b"), ((1,),)).markdown()

    def test_header_leaves_out_what_is_unknown(self):
        self.assertEqual(
            "now, 1 × H200, CPUs 16\n", header({"date": "now", "gpu": "1 × H200", "cpus": 16, "driver": None})
        )

    def test_every_suite_makes_no_table_of_nothing(self):
        for name in ("smoke", "alone", "counts", "pairs", "sweep", "fairness", "handover", "overhead", "mixes"):
            self.assertEqual([], load(name).tables([]), name)


class SuiteTablesTest(unittest.TestCase):
    @staticmethod
    def text(suite, results):
        return render({"suite": suite, "machine": {}, "results": results, "problems": []})

    def test_alone_compares_medians_with_the_bounds(self):
        rates = {"native": [100.0, 99.0, 101.0], "plain": [99.6, 99.5, 99.7], "managed": [98.0, 99.0, 97.0]}
        results = [
            {"kind": "rate", "workload": "gpt", "placement": place, "rate": rate}
            for place, values in rates.items()
            for rate in values
        ]
        self.assertIn("| 0.996 | 0.980 | 2.0% | ≥ 0.995: met, missed |", self.text("alone", results))

    def test_losses_and_states_that_differ_are_named(self):
        results = [
            {"kind": "losses", "workload": "mlp", "placement": place, "losses": losses, "state": state}
            for place, losses, state in (
                ("native", ["0.5", "0.25"], "a"),
                ("plain", ["0.5", "0.25"], "b"),
                ("managed", ["0.5", "0.25000001"], "a"),
                ("native again", ["0.5", "0.25"], "a"),
            )
        ]
        self.assertIn("| mlp | yes | NO | NO | 2 | 0.25 |", self.text("alone", results))

    def test_counts_that_differ_are_named(self):
        result = {
            "kind": "count",
            "case": "eager gpt",
            "allocator": "native",
            "expandable": True,
            "cupti": {"kernel_launches": 10, "graph_launches": 2, "kernels_by_correlation": 10},
            "tessera": {"kernel_launches": 10, "graph_launches": 1},
        }
        self.assertIn("| eager gpt | 10 | 10 | 2 | 1 | NO | 10 | native, expandable |", self.text("counts", [result]))

    def test_pairs_are_relative_to_their_own_baselines(self):
        results = [{"kind": "alone", "pair": "gpt+mlp", "workload": "gpt", "rate": 100.0}]
        self.assertEqual([], load("pairs").tables(results))
        results.append({"kind": "alone", "pair": "gpt+mlp", "workload": "mlp", "rate": 800.0})
        results.append({"kind": "window", "pair": "gpt+mlp", "way": "on", "rates": [50.0, 400.0]})
        results.append({"kind": "window", "pair": "gpt+mlp", "way": "time-slicing", "rates": [45.0, 600.0]})
        text = self.text("pairs", results)
        self.assertIn("| gpt+mlp | 1.200 (1.200–1.200) | – | – | 1.000 (1.000–1.000) | – | – |", text)

    def test_sweep(self):
        results = [
            {"kind": "alone", "rate": 100.0},
            {"kind": "quantum", "quantum_ms": 50, "window_s": 1.2, "windows": [[50.0, 49.0], [49.0, 51.0]]},
        ]
        self.assertIn("| 50 ms | 49.50 + 50.00 | 0.995 | 0.990–1.000 | 2.0% | 2 × 1.2 s |", self.text("sweep", results))

    def test_drains_are_counted_once_each(self):
        def sample(drains, last_ns):
            return {"clients": [{"drains": drains, "drainLastNs": last_ns}, None]}

        samples = [sample(0, 0), sample(1, 3_000_000), sample(1, 3_000_000), sample(2, 1_000_000)]
        self.assertEqual([3.0, 1.0], load("handover").drains_ms(samples))


class RecordTest(unittest.TestCase):
    def test_a_step_that_fails_does_not_cost_the_next_one(self):
        with tempfile.TemporaryDirectory() as folder:
            record = Record("smoke", {}, folder, 10)
            record.attempt("first", lambda: [][1])
            record.attempt("second", lambda: record.add("check", name="x", ok=True, detail=""))
            record.attempt("long", lambda: self.fail("must not run"), needs_s=60)
            with open(os.path.join(folder, "smoke.json"), encoding="utf-8") as file:
                kept = json.load(file)
        self.assertEqual(["first", "long"], [problem["step"] for problem in kept["problems"]])
        self.assertIn("IndexError: list index out of range (test_tables.py:", kept["problems"][0]["error"])
        self.assertEqual(1, len(kept["results"]))


if __name__ == "__main__":
    unittest.main()
