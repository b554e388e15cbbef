"""The suites about devices: two of them in one program, two programs in one context, a program that leaves; on stand-ins."""

import dataclasses
import unittest
from unittest import mock

from harness.child import ChildFailed
from harness.suites import load
from harness.tests.suites import test_suites

#: Stand-ins for a machine with GPUs, for the CUDA program on both, and for PyTorch's cases.
_GPUS = "#!/bin/sh\n%s\n"
_DEVICES = """#!/bin/sh
echo kernels ok; echo "note peer access: $PPID"
"""
_DEVICES_CASES = """
import json, os, sys, time
for name in sys.argv[1:]:
    if name == "data_parallel":
        time.sleep(60)
    ok = name != "ddp_nccl"
    detail = f"1 device, losses {os.environ['CUDA_VISIBLE_DEVICES'] and 7}" if name == "training" else "" if ok else "refused"
    print(json.dumps({"case": name, "ok": ok, "detail": detail}), flush=True)
"""
#: A program that is placed in turn on two GPUs, or under ``pack`` on one; under ``least-loaded`` not as asked, nor as the status says.
_PLACED = """
import json, os, sys
runtime, rule = os.environ["TESSERA_RUNTIME_DIR"], os.environ["TESSERA_PLACEMENT"]
before = len([name for name in os.listdir(runtime) if name.startswith("placed-")])
gpu = "abc"[0 if rule == "pack" else before % (3 if rule == "least-loaded" else 2)]
with open(os.path.join(runtime, f"placed-{os.getpid()}"), "w") as file:
    file.write("GPU-a" if rule == "least-loaded" else f"GPU-{gpu}")
print(json.dumps({"gpu": gpu, "count": 1}), flush=True)
sys.stdin.read()
print(json.dumps({"right": True}), flush=True)
"""
#: What is used, and a program that takes others off the GPU.
_USED = "#!/bin/sh\ncase $* in *memory.used*) echo 700;; *) echo 'GPU 0: scripted';; esac\n"
_CHECKPOINT = """#!/bin/sh
case $1 in suspend|restore) kill -0 "$2" && echo '{"ok":true}';; *) exit 2;; esac
"""


class DeviceSuitesTest(unittest.TestCase):
    # The same world as the other suites', whose tests do not run again here.
    setUp = test_suites.SuitesTest.setUp
    path = test_suites.SuitesTest.path
    run_suite = test_suites.SuitesTest.run_suite

    def gpus(self, count):
        lines = "; ".join(f"echo 'GPU {index}: scripted'" for index in range(count))
        test_suites._executable(self.path("path", "nvidia-smi"), _GPUS % lines)

    def test_devices(self):
        self.gpus(2)
        test_suites._executable(self.path("home", "programs", "devices"), _DEVICES)
        with open(self.path("workloads", "devices.py"), "w", encoding="utf-8") as file:
            file.write(_DEVICES_CASES)
        record, text = self.run_suite("devices", TIMEOUT_S=4)
        self.assertEqual([], record.problems)
        self.assertIn("| two devices in one CUDA program | yes | yes | yes | yes |  |", text)
        self.assertIn("| visible | yes | yes | yes | yes |  |", text)
        self.assertIn("| ddp_nccl | NO | NO | NO | yes | native: refused |", text)
        self.assertIn("| data_parallel | NO | NO | NO |", text)
        self.assertIn("the process ended with 124", text)
        self.assertIn("the program, space: peer access: ", text)

    def test_devices_needs_two(self):
        self.gpus(1)
        record, text = self.run_suite("devices", TIMEOUT_S=4)
        self.assertEqual([], record.problems)
        self.assertIn("skipped: needs 2 GPUs, 1 here", text)

    def test_placement(self):
        self.gpus(2)
        with open(self.path("workloads", "placed.py"), "w", encoding="utf-8") as file:
            file.write(_PLACED)
        record, text = self.run_suite("placement", SETTLE_S=0, READY_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| none | time | 2 + 2 | 2 + 2: met | yes | yes | yes |", text)
        self.assertIn("| pack | space | 4 | 4: met | yes | yes | yes |", text)
        self.assertIn("| least-loaded | time | 2 + 1 + 1 | 2 + 2: missed | yes | yes | NO |", text)

    def test_placement_needs_two(self):
        self.gpus(1)
        record, text = self.run_suite("placement", SETTLE_S=0)
        self.assertEqual([], record.problems)
        self.assertIn("skipped: needs 2 GPUs, 1 here", text)

    def test_suspend(self):
        test_suites._executable(self.path("path", "nvidia-smi"), _USED)
        test_suites._executable(self.path("home", "bin", "tessera-checkpoint"), _CHECKPOINT)
        record, text = self.run_suite("suspend", ROUNDS=1, SETTLE_S=0, AWAY_S=0.1)
        self.assertEqual([], record.problems)
        ways = ["evicted", "suspended", "suspended beside another", "beside another by the driver alone", "natively by the driver alone"]
        self.assertEqual(ways, [one["way"] for one in record.results])
        self.assertIn("| evicted | 0 | 0 |", text)
        self.assertIn("suspended, round 1: scripted", text)
        self.assertIn("suspended beside another, by round 1: 0 MiB had come from the other", text)
        self.assertIn("contents equal in all ways", text)

    def test_who_comes_back_uncalled_is_a_problem(self):
        suite = load("suspend")
        self.enterContext(mock.patch.multiple(suite, AWAY_S=0, residency=lambda manager, pid: {"state": "restoring"}))
        with self.assertRaisesRegex(ChildFailed, "though nobody called it: restoring"):
            suite._stays_away(None, mock.Mock(pid=1))

    def test_overlap(self):
        self.setting = dataclasses.replace(self.setting, only=("as it is", "no events"))
        record, text = self.run_suite("overlap", REPEATS=1, WINDOW_S=0.2)
        self.assertEqual([], record.problems)
        self.assertEqual(4, sum(one["kind"] == "window" for one in record.results))
        self.assertIn("| no events |", text)
        self.assertIn("| mps |", text)
        one = next(one for one in record.results if one["kind"] == "window" and one["way"] == "one process, two streams")
        self.assertEqual(one["rates"][0], one["rates"][1])


if __name__ == "__main__":
    unittest.main()
