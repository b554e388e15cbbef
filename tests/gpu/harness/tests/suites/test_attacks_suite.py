"""The suite of attacks on stand-ins for its runner."""

import dataclasses
import os
import unittest

from harness.tests.suites import test_suites

_ATTACKS = """#!/bin/sh
case "$*" in *Xshare*) exit 0 ;; *--control*) saw='saw 32 words' escapes=1 ;; *) saw= escapes=0 ;; esac
echo "{\\"attacks\\":[{\\"name\\":\\"load/index\\",\\"what\\":\\"reads by index\\",\\"must\\":\\"harmless\\",\\"outcome\\":\\"ran\\",\\
\\"escaped\\":\\"$saw\\",\\"crashed\\":\\"\\",\\"disturbed\\":\\"\\",\\"unlike\\":\\"\\",\\"untried\\":\\"\\",\\"tookMs\\":7}],\\"noTimeFor\\":[],\\"notTried\\":0,\\
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

    def test_what_a_run_knew_that_was_cut_off(self):
        java = os.path.join(self.setting.installation.home, "jre", "bin", "java")
        os.makedirs(os.path.dirname(java), exist_ok=True)
        keep = """while [ $# -gt 0 ]; do [ "$1" = --out ] && out=$2; shift; done
[ -z "$out" ] || cp "$0.known" "$out"; sleep 60"""
        with open(java + ".known", "w", encoding="utf-8") as file:
            file.write('{"attacks":[{"name":"load/index","what":"reads","must":"harmless","outcome":"ran","escaped":"",'
                       '"crashed":"","disturbed":"","unlike":"","untried":"","tookMs":7}],"noTimeFor":["store/index"],'
                       '"notTried":0,"notAsStated":0,"crashes":0,"escapes":0,"victimsDisturbed":0}')  # fmt: skip
        test_suites._executable(java, "#!/bin/sh\ncase \"$*\" in *Xshare*) exit 0 ;; esac\n" + keep + "\n")
        record, text = self.run_suite("attacks", TIMEOUT_S=1, CONTROL_TIMEOUT_S=1)
        self.assertIn("| load/index | reads | harmless | ran | held |", text)
        self.assertIn("no time for: 1", text)
        self.assertIn("1 attacks were not begun", record.problems[0]["error"])
