"""A real process that speaks the session protocol, and the windows measured in it."""

import os
import sys
import tempfile
import time
import unittest

from harness.bench import Bench, measure, measure_windows, native
from harness.child import ChildFailed, run_bounded
from harness.worker import Worker

HERE = os.path.dirname(os.path.abspath(__file__))


class WorkerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bench = Bench(HERE, folder.name)
        self.addCleanup(self.bench.close)

    def start(self, *options, name="paced"):
        return self.bench.start(native(), "paced_workload", *options, name=name, ready_timeout_s=20)

    def test_rates_of_two_processes_in_one_window(self):
        slow, fast = self.start("--step-ms", "20", name="slow"), self.start("--step-ms", "10", name="fast")
        for worker in (slow, fast):
            worker.ready()
        windows = []
        for _ in range(8):
            rates, bins = measure([slow, fast], 0.6, 0.1)
            # A sleep never ends early: bounded above in every window. Below only in one, since this machine may be busy.
            self.assertLessEqual(rates[0], 50.5)
            self.assertLessEqual(rates[1], 101)
            windows.append((rates, len(bins[0])))
            if rates[0] > 20 and rates[1] > rates[0] and len(bins[0]) >= 6:
                return
        self.fail(f"rates and numbers of bins: {windows}")

    def test_windows_in_a_row_and_the_watcher(self):
        worker = self.start()
        worker.ready()
        seen = []
        windows, whole, _ = measure_windows([worker], 0.2, 0.2, 3, lambda: seen.append(time.monotonic()))
        self.assertEqual(3, len(windows))
        self.assertEqual(1, len(whole))
        self.assertGreaterEqual(len(seen), 5)

    def test_a_worker_is_measured_again_and_again(self):
        worker = self.start()
        worker.ready()
        for _ in range(3):
            rates, _ = measure([worker], 0.1, 0.05)
            self.assertGreater(rates[0], 0)
        self.assertEqual(4, len(worker.steps(4)["losses"]))

    def test_requests_come_at_times_fixed_ahead(self):
        worker = self.start("--step-ms", "1")
        worker.ready()
        worker.serve(50)
        time.sleep(0.6)
        served = worker.served()
        self.assertGreater(len(served["latencies_us"]), 5)
        self.assertGreaterEqual(min(served["latencies_us"]), 1000)
        self.assertEqual([], served["ages_us"])
        # It goes on where it was: a command of another kind is answered as ever.
        self.assertEqual(4, len(worker.steps(4)["losses"]))

    def test_requests_that_nobody_answers_have_an_age(self):
        worker = self.start("--step-ms", "100")
        worker.ready()
        worker.serve(100)
        time.sleep(0.8)
        served = worker.served()
        # Of some 80 arrivals a step of 100 ms leaves time for 9, and for 5 or 6 more after the end.
        self.assertLessEqual(len(served["latencies_us"]), 16)
        self.assertGreater(len(served["ages_us"]), 30)
        self.assertEqual(sorted(served["ages_us"], reverse=True), served["ages_us"])
        # The oldest has waited behind all that were answered, each of which takes longer than the time between two arrivals.
        self.assertGreater(served["ages_us"][0], 500_000)
        self.assertEqual(sorted(served["latencies_us"]), served["latencies_us"])

    def test_counting_reads_the_other_counter_while_the_process_is_quiet(self):
        worker = self.start()
        worker.ready()
        readings = iter((10, 40))
        counts, before, after = worker.counted(10, lambda: next(readings))
        self.assertEqual((30, 10, 40), (counts["kernel_launches"], before, after))

    def test_a_program_that_fails_is_named_with_its_log(self):
        with self.assertRaisesRegex(ChildFailed, "paced ended with status 1; log: .*scripted failure"):
            self.start("--fail").ready()

    def test_silence_is_bounded(self):
        worker = Worker.start("mute", ["sleep", "30"], native().environment, os.devnull, ready_timeout_s=0.2)
        self.addCleanup(worker.close)
        with self.assertRaisesRegex(ChildFailed, "mute said nothing"):
            worker.ready()

    def test_commands_are_bounded_and_keep_their_output(self):
        status, out, err = run_bounded(
            [sys.executable, "-c", "print('here', flush=True); import time; time.sleep(30)"], dict(os.environ), 1
        )
        self.assertEqual(124, status)
        self.assertEqual("here\n", out)
        self.assertIn("ended after", err)


if __name__ == "__main__":
    unittest.main()
