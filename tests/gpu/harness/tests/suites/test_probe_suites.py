"""The suites that find out what ends a context, or what does not come back from a checkpoint; on stand-ins."""

import unittest

from harness.tests.suites import test_suites

#: Every process runs what is left up to the first that ends its context; one ends before it says anything.
_BARRIERS = """#!/bin/sh
[ "$1" != --list ] || { echo good; echo zeros; echo waits; echo bit_0; echo bit_1; exit 0; }
for probe in "$@"; do
    case $probe in
    good|bit_1) echo "{\\"probe\\":\\"$probe\\",\\"ended\\":\\"nothing\\",\\"made\\":\\"0a\\",\\"over\\":1}" ;;
    waits) echo broken >&2; exit 2 ;;
    *) echo "{\\"probe\\":\\"$probe\\",\\"ended\\":\\"FAULT\\"}"; exit 0 ;;
    esac
done
"""

_DESCRIPTORS = """#!/bin/sh
[ "$1" != --list ] || { echo rows_1_good; echo rows_1_start; echo both_48_start; exit 0; }
for probe in "$@"; do
    case $probe in
    rows_1_good) echo '{"probe":"rows_1_good","ended":"nothing","tried":1,"begun":1,"last":"08","seen":0,"secret":0,"first":"00","holders":132}' ;;
    rows_1_start) echo '{"probe":"rows_1_start","ended":"FAULT","tried":9,"begun":4,"last":"1b","seen":0,"secret":0,"first":"00","holders":132}'
        exit 0 ;;
    *) echo '{"probe":"both_48_start","ended":"nothing","tried":9,"begun":9,"last":"08","seen":3,"secret":2,"first":"3a","holders":132}' ;;
    esac
done
"""

#: Two kinds: one comes back without its contents, of the other the driver says so too late.
_CHECKPOINTED = """#!/bin/sh
[ $# = 1 ] || { echo lost; echo import; exit 0; }
echo ready
read -r line
echo '{"contents":"WRONG","writes":"right","peerSees":"-"}'
"""
_CHECKPOINT = """#!/bin/sh
case $1$(tr '\\0' ' ' < /proc/$2/cmdline) in
restore*import*) echo '{"ok":false,"step":"restore","code":801}'; exit 1 ;;
*) echo '{"ok":true}' ;;
esac
"""


class ProbeSuitesTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def test_barriers(self):
        test_suites._executable(self.path("home", "programs", "barriers"), _BARRIERS)
        record, text = self.run_suite("barriers", TIMEOUT_S=20)
        self.assertEqual(["waits"], [problem["step"] for problem in record.problems])
        self.assertIn("| good | nothing | 0a |", text)
        self.assertIn("| zeros | FAULT |", text)
        self.assertIn("| FAULT | 0 |", text)
        self.assertIn("| nothing | 1 |", text)

    def test_descriptors(self):
        test_suites._executable(self.path("home", "programs", "descriptors"), _DESCRIPTORS)
        record, text = self.run_suite("descriptors", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| rows_1_good | nothing | 1 | 132 | 0 | 0 | – | – |", text)
        self.assertIn("| rows_1_start | FAULT | 4 | 132 | 0 | 0 | – | 1b |", text)
        self.assertIn("| both_48_start | nothing | 9 | 132 | 3 | 2 | 3a | – |", text)

    def test_checkpoints(self):
        test_suites._executable(self.path("home", "programs", "checkpointed"), _CHECKPOINTED)
        test_suites._executable(self.path("home", "bin", "tessera-checkpoint"), _CHECKPOINT)
        record, text = self.run_suite("checkpoints", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| lost | done | done | WRONG | right | - | suspended | WRONG | right | - |", text)
        self.assertIn("| import | done | restore: 801 | – | – | – | suspended | WRONG | right | - |", text)


if __name__ == "__main__":
    unittest.main()
