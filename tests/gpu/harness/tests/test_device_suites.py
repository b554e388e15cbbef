"""The suites about devices: two of them in one program, and two programs in one context; on stand-ins."""

import dataclasses
import unittest

from harness.tests import test_suites

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
        self.assertIn("| two devices in one CUDA program | yes | yes | yes |  |", text)
        self.assertIn("| visible | yes | yes | yes |  |", text)
        self.assertIn("| ddp_nccl | NO | NO | yes | native: refused |", text)
        self.assertIn("| data_parallel | NO | NO |", text)
        self.assertIn("the process ended with 124", text)
        self.assertIn("the program, space: peer access: ", text)

    def test_devices_needs_two(self):
        self.gpus(1)
        record, text = self.run_suite("devices", TIMEOUT_S=4)
        self.assertEqual([], record.problems)
        self.assertIn("skipped: needs 2 GPUs, 1 here", text)

    def test_overlap(self):
        self.setting = dataclasses.replace(self.setting, only=("as it is", "no events"))
        record, text = self.run_suite("overlap", REPEATS=1, WINDOW_S=0.2)
        self.assertEqual([], record.problems)
        self.assertEqual(3, sum(one["kind"] == "window" for one in record.results))
        self.assertIn("| no events |", text)
        self.assertIn("| mps |", text)


if __name__ == "__main__":
    unittest.main()
