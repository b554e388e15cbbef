"""The suite about kernels without PTX, on stand-ins: what is as it should be, and that what is not is seen."""

import unittest
from unittest import mock

from harness.child import ChildFailed
from harness.suites import load
from harness.tests.suites import test_suites


class PoliciesSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_every_policy(self):
        record, text = self.run_suite("policies", LOSS_STEPS=3, libraries=lambda: ["/lib/a.so", "/lib/b.so"])
        self.assertEqual([], record.problems)
        self.assertIn("| time | yes | plain | 0 | yes |  |", text)
        self.assertIn("| trusted | yes | relay | 3 | yes |  |", text)
        self.assertIn("| refuse | – | – | – | yes | tessera: scripted: kernels without PTX are refused |", text)
        self.assertIn("trusted: 5 images of 1 of 2 libraries", text)

    def test_nothing_to_trust_is_a_problem(self):
        manager = mock.Mock(tessera=lambda *words, **bounds: (4, "/lib/a.so: no image with machine code\n", ""))
        suite = load("policies")
        with mock.patch.object(suite, "libraries", lambda: ["/lib/a.so"]), self.assertRaisesRegex(ChildFailed, "ended with 4: /lib/a.so"):
            suite._trust(None, manager)

    def test_policies_that_are_not_kept_are_seen(self):
        suite = load("policies")
        right = {"kind": "policy", "policy": "native", "losses": [1], "state": "a"}
        right.update(plan=None, unfenced=None, said="")
        wrong = (
            {"policy": "time", "plan": "relay"},
            {"policy": "trusted", "plan": "relay", "unfenced": 0},
            {"policy": "trusted", "plan": "relay", "unfenced": 1, "losses": [2]},
            {"policy": "refuse"},
            {"policy": "refuse", "losses": None, "said": "killed"},
        )
        rows = suite.tables([right, *({**right, **one} for one in wrong)])[0].rows
        self.assertEqual([False] * len(wrong), [row[4] for row in rows])


if __name__ == "__main__":
    unittest.main()
