"""The suite of a small model beside a heavy program, from its first step to its tables, on stand-ins."""

import os
import unittest

from harness.suites.together import beside
from harness.tests.suites import test_suites

NEWCOMER = """
from harness.tests.paced_workload import PacedTrainer, Session

class Newcomer(PacedTrainer):
    def facts(self):
        return {"pid": 1, "start_s": 1.5, "first_s": 0.25, "more_s": 0.125, "other_s": 2.5}

Session(Newcomer(0.001)).serve()
"""


def small(p99_ms, unanswered=0, **fields):
    """The times of a small model's requests."""
    return {"p50_ms": 1.0, "p99_ms": p99_ms, "longest_ms": p99_ms, "unanswered": unanswered, "latencies_ms": [], **fields}


def way(case, name, p99_ms, rate, unanswered=0):
    """What is recorded of a way."""
    return small(p99_ms, unanswered, kind="beside", case=case, way=name, rate=rate, decisions=[])


class BesideSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def measure(self, *cases, **constants):
        self.setting = type(self.setting)(self.setting.installation, self.setting.workloads, self.folder, cases, {"window": "0.4", "settle": "0.1"})
        return self.run_suite("beside", ALONE_S=0.2, SETTLE_S=0.1, LOOK_S=0.1, **constants)

    def test_every_way(self):
        record, text = self.measure("gemm", "stream")
        self.assertEqual([], record.problems)
        for case in ("gemm", "stream"):
            ways = [one for one in record.results if one["kind"] == "beside" and one["case"] == case]
            self.assertEqual(list(beside.WAYS), [one["way"] for one in ways])
            for one in ways:
                self.assertGreater(len(one["latencies_ms"]), 5, one["way"])
                self.assertGreater(one["rate"], 0, one["way"])
        self.assertRegex(text, r"\| bf16 GEMM of 16384³, 3 deep \| [\d.]+ / [\d.]+ \|( [\d.]+ / [\d.]+, [\d.]+ \|){6}")
        self.assertIn("gemm, turns: free (scripted)", text)
        # Three bounds beside what computes, two beside what streams.
        self.assertEqual(5, len(beside.tables(record.results)[1].rows))

    def test_without_mps_the_rest_is_measured(self):
        os.unlink(self.path("path", "nvidia-cuda-mps-control"))
        record, _ = self.measure("gemm")
        self.assertEqual(["mps"], [problem["step"] for problem in record.problems])
        self.assertEqual(
            ["time-slicing", "turns", "relay", "relay, interactive"], [one["way"] for one in record.results if one["kind"] == "beside"]
        )

    def test_a_program_that_does_not_start_costs_its_ways_alone(self):
        self.program("gemm", "import os, sys\nfrom harness.tests.paced_workload import PacedTrainer, Session\n"
                     "if os.environ.get('CUDA_MPS_ACTIVE_THREAD_PERCENTAGE') == '75':\n    sys.exit('out of memory')\n"
                     "Session(PacedTrainer(0.005)).serve()\n")  # fmt: skip
        record, _ = self.measure("gemm")
        self.assertEqual(["gemm mps-75"], [problem["step"] for problem in record.problems])
        self.assertIn("out of memory", record.problems[0]["error"])
        self.assertEqual(5, sum(one["kind"] == "beside" for one in record.results))

    def program(self, name, text):
        path = self.path("workloads", f"{name}.py")
        if os.path.lexists(path):
            os.remove(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_newcomers(self):
        self.program("newcomer", NEWCOMER)
        record, text = self.measure("newcomer")
        self.assertEqual([], record.problems)
        self.assertRegex(text, r"\| time-slicing, alone \| 1.500 \| 0.250 \| 0.125 \| 2.500 \| – \| – \|")
        self.assertRegex(text, r"\| relay, alone again \| 1.500 \| 0.250 \| 0.125 \| 2.500 \| – \| – \|")
        self.assertRegex(text, r"\| relay, beside \| 1.500 \| 0.250 \| 0.125 \| 2.500 \| [\d.]+ \| [\d.]+ \|")

    def test_what_is_asked(self):
        results = [
            {**small(2.0), "kind": "small alone", "case": "gemm"},
            {"kind": "heavy alone", "case": "gemm", "rate": 100.0},
            way("gemm", "time-slicing", 9.0, 93.0),
            way("gemm", "turns", 9.5, 91.0),
            way("gemm", "relay", 2.9, 81.0),
            way("gemm", "relay, interactive", 2.7, 76.0),
            {**small(2.0), "kind": "small alone", "case": "stream"},
            {"kind": "heavy alone", "case": "stream", "rate": 100.0},
            way("stream", "MPS, heavy at 75 %", 13.0, 100.0),
            way("stream", "relay", 14.0, 100.0, unanswered=3),
        ]
        cells, asked = beside.tables(results)
        self.assertEqual(("bf16 GEMM of 16384³, 3 deep", "1.000 / 2.000", "1.000 / 9.000, 0.93"), cells.rows[0][:3])
        self.assertEqual("≥ 1.000 / 14.00, 1.00", cells.rows[1][6])
        found = {(row[0].split()[0], row[1]): (row[5], row[7]) for row in asked.rows}
        self.assertEqual(("≤ 1.5: met", "≥ 0.82: missed"), found["bf16", "relay"])
        self.assertEqual(("≤ 1.3: missed", "≥ 0.75: met"), found["bf16", "relay, interactive"])
        self.assertEqual(("≤ 1.1: met", "–"), found["bf16", "turns"])
        # 1.08 of MPS at most by what was answered; the three others took nobody knows how long.
        self.assertEqual(("≤ 1.1: –", "–"), found["streaming", "relay"])
        self.assertEqual(4, len(found))


if __name__ == "__main__":
    unittest.main()
