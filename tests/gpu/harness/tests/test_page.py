"""The pages that are made of kept records."""

import json
import pathlib
import tempfile
import unittest

from harness.pages import page
from harness.pages.keep import keep
from harness.pages.page_figures import FIGURES


def costs(date, mean):
    """A kept record with one figure."""
    machine = {"date": date, "commit": f"{mean}", "gpu": "1 × NVIDIA H100 80GB"}
    return {"suite": "fences", "machine": machine, "results": [], "problems": [], "figures": {"fences.mask": mean}}


class PageTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, name, record):
        (self.folder / name).mkdir()
        (self.folder / name / f"{record['suite']}.json").write_text(json.dumps(record), encoding="utf-8")

    def line(self, key):
        what = next(figure.what for figure in FIGURES if figure.key == key)
        return next(line for line in page.page(self.folder).splitlines() if line.startswith(f"| {what} |"))

    def test_the_newest_record_counts_and_the_older_ones_are_the_trend(self):
        self.put("b", costs("2026-11-26 10:00 UTC", 1.05))
        self.put("a", costs("2026-11-27 10:00 UTC", 1.07))
        line = self.line("fences.mask")
        self.assertIn("| 1.070 | 2026-11-27, H100, `1.07`", line)
        self.assertIn("1.050 → 1.070", line)

    def test_a_baseline_that_ran_later_is_not_the_latest(self):
        self.put("a", costs("2026-11-26 10:00 UTC", 1.05))
        self.put("b", {**costs("2026-11-26 10:02 UTC", 1.07), "baseline": True})
        self.assertIn("| 1.050 | 2026-11-26, H100, `1.05`", self.line("fences.mask"))

    def test_figures_without_a_record_are_listed_below_the_table(self):
        self.put("a", costs("2026-11-26 10:00 UTC", 1.05))
        text = page.page(self.folder)
        what = next(figure.what for figure in FIGURES if figure.key == "alone.gpt")
        self.assertNotIn(f"| {what} |", text)
        self.assertIn(what, text.splitlines()[-1])
        mask = next(figure.what for figure in FIGURES if figure.key == "fences.mask")
        self.assertNotIn(mask, text.splitlines()[-1])

    def test_what_is_asked_is_compared(self):
        self.assertTrue(page.met("≥ 0.995", 0.995))
        self.assertFalse(page.met("≤ 2", 2.01))
        self.assertTrue(page.met("= 0", 0))
        self.assertFalse(page.met("= yes", False))
        self.assertTrue(page.met("≤ 2", "1.4 (1.2–1.9)"))
        self.assertIsNone(page.met("", 1))

    def test_counts_are_not_taken_of_a_record_that_was_cut(self):
        counting = {figure.key for figure in FIGURES if figure.counts}
        for path in page.RESULTS.glob("*/attacks*.json"):
            record = json.loads(path.read_text(encoding="utf-8"))
            if "trimmed" in record and "figures" not in record:
                self.assertEqual(set(), counting & set(page.kept(record)), path)

    def test_a_kept_record_has_the_figures_of_the_whole_one(self):
        source = next(page.RESULTS.glob("*/fences.json"))
        record = json.loads(source.read_text(encoding="utf-8"))
        record.pop("figures", None)
        raw = self.folder / "fences.json"
        raw.write_text(json.dumps(record), encoding="utf-8")
        kept = json.loads(pathlib.Path(keep(str(raw), str(self.folder / "into"))).read_text(encoding="utf-8"))
        self.assertEqual(page.figures_of(record), kept["figures"])
        self.assertIn("fences.mask", kept["figures"])

    def test_the_committed_pages_are_what_the_records_give(self):
        page.main(["--check"])

    def test_readme_keeps_what_stands_around_the_table(self):
        self.put("a", costs("2026-11-27 10:00 UTC", 1.07))
        text = page.readme(f"above\n{page.BEGIN}\nold\n{page.END}\nbelow\n", self.folder)
        self.assertTrue(text.startswith("above\n") and text.endswith("\nbelow\n"))
        self.assertIn("| fenced |  | 1.070 | H100, 2026-11-27 |", text)
        self.assertNotIn("old", text)


if __name__ == "__main__":
    unittest.main()
