"""Rates, windows and fairness from completion times."""

import unittest

from harness.steps import StepTimes, common_window, split, unfairness

MS = 1_000_000


def steady(start_ms, step_ms, count):
    """Steps back to back."""
    done = [(start_ms + step_ms * (index + 1)) * MS for index in range(count)]
    return StepTimes(start_ms * MS, done[-1], done)


class StepTimesTest(unittest.TestCase):
    def test_steady_steps_have_their_rate_in_any_window(self):
        run = steady(1000, 10, 300)
        for begin_ms, end_ms in ((1000, 4000), (1503, 2510), (2999, 3001)):
            self.assertAlmostEqual(100.0, run.rate(begin_ms * MS, end_ms * MS), places=6)

    def test_steps_outside_the_window_do_not_count(self):
        run = steady(0, 10, 10)
        self.assertEqual(0, run.steps_between(100 * MS, 200 * MS))
        self.assertAlmostEqual(10, run.steps_between(-50 * MS, 500 * MS))

    def test_a_pause_of_another_turn_is_no_progress(self):
        done = [10, 20, 30, 40, 140, 150, 160]
        run = StepTimes(0, 160 * MS, [at * MS for at in done])
        self.assertEqual(0, run.steps_between(45 * MS, 125 * MS))
        self.assertAlmostEqual(0.5, run.steps_between(45 * MS, 135 * MS))
        self.assertAlmostEqual(7, run.steps_between(0, 160 * MS))

    def test_steps_that_complete_in_one_instant_all_count(self):
        run = StepTimes(0, 100 * MS, [50 * MS] * 4 + [60 * MS, 70 * MS])
        self.assertAlmostEqual(6, run.steps_between(0, 100 * MS))

    def test_no_steps_are_rate_zero(self):
        self.assertEqual(0, StepTimes(0, 100 * MS, []).rate(0, 100 * MS))

    def test_bins_add_up_to_the_steps(self):
        run = steady(0, 7, 100)
        bins = run.bins(0, 700 * MS, 100 * MS)
        self.assertEqual(7, len(bins))
        self.assertAlmostEqual(100, sum(bins), delta=0.05)

    def test_answer_of_a_workload_is_read(self):
        run = StepTimes.of_answer({"start_ns": 5000, "end_ns": 9_000_000, "deltas_us": [10, 20, 0]})
        self.assertEqual([15_000, 35_000, 35_000], run.done_ns)


class WindowTest(unittest.TestCase):
    def test_common_window_starts_with_the_last_and_ends_with_the_first(self):
        self.assertEqual((300 * MS, 1000 * MS), common_window([steady(0, 10, 100), steady(200, 10, 100)], 100 * MS))

    def test_runs_that_never_met_have_no_window(self):
        with self.assertRaises(ValueError):
            common_window([steady(0, 10, 10), steady(500, 10, 10)])

    def test_split_leaves_the_rest_out(self):
        self.assertEqual([(0, 3), (3, 6), (6, 9)], split(0, 11, 3))

    def test_unfairness(self):
        self.assertEqual(0, unfairness(5.0, 5.0))
        self.assertAlmostEqual(0.02, unfairness(51.0, 49.0))
        self.assertEqual(1, unfairness(0.0, 3.0))
        with self.assertRaises(ValueError):
            unfairness(0, 0)


if __name__ == "__main__":
    unittest.main()
