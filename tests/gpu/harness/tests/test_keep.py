"""Keeping raw records: names, sizes, and that nothing is overwritten."""

import contextlib
import io
import json
import os
import tempfile
import unittest

from harness.pages import keep


def _record(suite="costs", results=(), commit="abc123def456"):
    machine = {"date": "2026-11-24 04:10 UTC", "gpu": "1 × H200", "commit": commit}
    return {"suite": suite, "machine": machine, "seconds": 1.0, "results": list(results), "problems": []}


class KeepTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="keep-")
        self.addCleanup(folder.cleanup)
        self.from_folder, self.into = os.path.join(folder.name, "run"), os.path.join(folder.name, "results")
        os.mkdir(self.from_folder)

    def write(self, name, value):
        with open(os.path.join(self.from_folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file)

    def kept(self):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            status = keep.main([self.from_folder, "--into", self.into])
        return status, out.getvalue().split(), err.getvalue()

    def test_date_and_commit_name_the_folder(self):
        self.write("costs.json", _record())
        self.write("other.json", {"answers": {}})
        status, paths, _ = self.kept()
        self.assertEqual((0, [os.path.join(self.into, "2026-11-24-abc123def456", "costs.json")]), (status, paths))

    def test_a_second_run_gets_a_number_and_the_same_one_does_not(self):
        self.write("costs.json", _record())
        self.kept()
        self.assertEqual(1, len(self.kept()[1]))
        self.write("costs.json", _record(results=[{"kind": "costs", "launchNs": 5}]))
        self.assertTrue(self.kept()[1][0].endswith("costs-2.json"))
        self.assertEqual(["costs-2.json", "costs.json"], sorted(os.listdir(os.path.join(self.into, "2026-11-24-abc123def456"))))

    def test_folders_of_one_machine_do_not_stay(self):
        said = 'File "/home/somebody/kit/workloads/server.py", line 58, see https://docs.example.com/api/page.html and /proc/self/maps'
        self.write("costs.json", _record(results=[{"kind": "costs", "failures": [said]}]))
        with open(self.kept()[1][0], encoding="utf-8") as file:
            kept = json.load(file)["results"][0]["failures"][0]
        self.assertEqual('File "server.py", line 58, see https://docs.example.com/api/page.html and /proc/self/maps', kept)

    def test_long_lists_are_cut_and_results_are_not(self):
        results = [{"kind": "window", "number": number, "bins": [0.123456] * 30_000} for number in range(20)]
        text = keep.trimmed(_record(results=results))
        self.assertLessEqual(len(text), keep.LIMIT_BYTES)
        kept = json.loads(text)
        self.assertEqual(list(range(20)), [one["number"] for one in kept["results"]])
        self.assertEqual(1000, kept["trimmed"]["lists_to"])
        self.assertEqual(20 * 29_000, kept["trimmed"]["entries_left_out"])

    def test_what_cannot_be_made_small_is_said(self):
        self.write("costs.json", _record(results=[{"kind": "text", "text": "x" * 300_000}]))
        status, paths, said = self.kept()
        self.assertEqual((1, []), (status, paths))
        self.assertIn("more than 200000", said)

    def test_a_record_of_no_date_is_refused(self):
        self.write("costs.json", {**_record(), "machine": {}})
        self.assertIn("does not say when", self.kept()[2])


if __name__ == "__main__":
    unittest.main()
