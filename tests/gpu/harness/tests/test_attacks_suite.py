"""The suite of attacks on stand-ins for its runner."""

import dataclasses
import os
import unittest

from harness.tests import test_suites

_ATTACKS = """#!/bin/sh
case "$*" in *Xshare*) exit 0 ;; *--control*) saw='saw 32 words' escapes=1 ;; *) saw= escapes=0 ;; esac
echo "{\\"attacks\\":[{\\"name\\":\\"load/index\\",\\"what\\":\\"reads by index\\",\\"must\\":\\"harmless\\",\\"outcome\\":\\"ran\\",\\
\\"escaped\\":\\"$saw\\",\\"crashed\\":\\"\\",\\"disturbed\\":\\"\\",\\"unlike\\":\\"\\",\\"untried\\":\\"\\",\\"tookMs\\":7}],\\"notTried\\":0,\\
\\"notAsStated\\":0,\\"crashes\\":0,\\"escapes\\":$escapes,\\"victimsDisturbed\\":0}"
"""


class AttacksSuiteTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_attacks(self):
        java = os.path.join(self.setting.installation.home, "jre", "bin", "java")
        os.makedirs(os.path.dirname(java), exist_ok=True)
        test_suites._executable(java, _ATTACKS)
        record, text = self.run_suite("attacks", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| load/index | reads by index | harmless | ran | held |", text)
        self.assertIn("| load/index | reads by index | harmless | ran | ESCAPE: saw 32 words |", text)
        self.assertIn("escapes: 0\n", text)
        self.assertIn("victims disturbed: 0", text)
        self.assertIn("escapes: 1\n", text)
        self.assertIn("Attacks on a neighbour, fenced by mask", text)
        self.setting = dataclasses.replace(self.setting, only=("check", "modulo", "load/*"))
        _, text = self.run_suite("attacks", TIMEOUT_S=20)
        self.assertNotIn("by mask", text)
        self.assertLess(text.index("fenced by modulo"), text.index("fenced by check"))
        test_suites._executable(java, "#!/bin/sh\necho 'the manager does not start' >&2; exit 3\n")
        record, text = self.run_suite("attacks", TIMEOUT_S=20)
        self.assertIn("the manager does not start", record.problems[0]["error"])
