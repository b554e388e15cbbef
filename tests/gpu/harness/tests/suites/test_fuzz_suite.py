"""The suite of generated kernels on stand-ins for the generator and the program that runs them."""

import dataclasses
import os
import unittest

from harness.tests.suites import test_suites

_FEED = "#!/bin/sh\ncase \"$*\" in *Xshare*) exit 0 ;; esac\necho 'seed 4711' >&2\necho records\n"
_RUN = """#!/bin/sh
cat >/dev/null
echo '{"kernels":5000,"hostile":2500,"stopped":3,"refused":0,"differences":1,"escapes":0,"contextLost":0,"failures":[{"seed":4712,"mode":"mask","hostile":0,"what":"differs","code":0}]}'
"""


class FuzzSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def _stand_in(self, text, *parts):
        place = os.path.join(self.setting.installation.home, *parts)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        test_suites._executable(place, text)

    def test_kernels(self):
        self._stand_in(_FEED, "jre", "bin", "java")
        self._stand_in(_RUN, "programs", "fuzz")
        record, text = self.run_suite("fuzz", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| 5000 | 5000 | 2500 | 3 | 0 | 1 | 0 | 0 |", text)
        self.assertIn("| 4712 | mask | 0 | differs | 0 |", text)
        self.assertIn("seed 4711", text)
        self.setting = dataclasses.replace(self.setting, only=("20", "seed=7"))
        _, text = self.run_suite("fuzz", TIMEOUT_S=20)
        self.assertIn("| 20 | 5000 |", text)
        self.setting = dataclasses.replace(self.setting, only=("5001",))
        record, _ = self.run_suite("fuzz", TIMEOUT_S=20)
        self.assertIn("only 5000 of 5001", record.problems[0]["error"])
        self._stand_in("#!/bin/sh\ncat >/dev/null\necho 'no device' >&2\nexit 1\n", "programs", "fuzz")
        record, text = self.run_suite("fuzz", TIMEOUT_S=20)
        self.assertIn("no device", record.problems[0]["error"])


if __name__ == "__main__":
    unittest.main()
