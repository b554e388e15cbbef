"""The suite of servers at full size, from its first step to its table, on stand-ins."""

import os
import unittest

from harness.suites.memory import fullsize
from harness.tests.suites import test_suites

GIB = 1 << 30


class FullsizeSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def serve(self, **constants):
        settings = {"SERVED_S": 0.3, "THINK_S": 0.02, "WATCH_S": 0.02, "STATUS_EVERY_S": 0.05}
        return self.run_suite("fullsize", **{**settings, **constants})

    def server(self, text):
        path = self.path("workloads", "server.py")
        os.remove(path)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def test_every_case(self):
        record, text = self.serve()
        self.assertEqual([], record.problems)
        self.assertEqual(list(fullsize.CASES), [one["case"] for one in record.results])
        servers = {one["case"]: {request["server"] for request in one["requests"]} for one in record.results}
        for name in ("two servers", "more than the host has", "two servers by relay"):
            self.assertEqual({0, 1}, servers[name], name)
        for name in ("three of 0.9", "three with weights", "three of 0.9 by relay"):
            self.assertEqual({0, 1, 2}, servers[name], name)
        self.assertEqual({0}, servers["native"])
        self.assertIn("`scripted status`", text)
        self.assertRegex(text, r"\| two servers \| 2 \| [\d.]+ \| \d+ \|")

    def test_what_the_manager_says_is_kept_once(self):
        watch = fullsize.Watch(None)
        memory = {"standing": "client 1 may run and waits", "usableBytes": 10 * GIB, "capacityBytes": 10 * GIB}
        client = {"pid": 7, "devices": [{"residency": {"shortOf": "its memory is larger", "residentBytes": 1}}]}
        for _ in range(2):
            watch._look({"clients": [client], "devices": [{"memory": memory}]})
        self.assertEqual(
            ["short: its memory is larger", "standing: client 1 may run and waits", "usable: 10.00 GiB of 10.00"],
            [sentence for _, sentence in watch.said],
        )

    def test_a_server_that_does_not_answer_is_a_standstill(self):
        self.server(
            "import sys, time\nfrom harness.tests.paced_workload import PacedTrainer, Session\n"
            "class Slow(PacedTrainer):\n    def state_digest(self):\n        time.sleep(2)\n        return ''\n"
            "Session(Slow(0.001)).serve()\n"
        )
        record, _ = self.serve(CASES={"two servers": fullsize.Case(2, 0.75)}, STANDSTILL_S=0.5, STATUS_EVERY_S=60)
        self.assertRegex(record.problems[0]["error"], r"nothing moved and nobody was answered for \d\.\d s")

    def test_a_server_that_ends_says_why(self):
        self.server("import sys\nsys.exit('12 words of memory are wrong')\n")
        record, text = self.serve(CASES={"two servers": fullsize.Case(2, 0.75)})
        self.assertEqual(2, len(record.problems))
        self.assertIn("12 words of memory are wrong", text)


if __name__ == "__main__":
    unittest.main()
