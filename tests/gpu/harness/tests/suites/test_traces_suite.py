"""The suite that records allocations from its first step to its files, with a stand-in for the recorder."""

import gzip
import os
import stat
import sys
import tempfile
import unittest
from unittest import mock

from harness.record import Record
from harness.suites import Setting, load
from harness.table import render
from harness.tessera import Installation

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

#: A stand-in for the recorder: events of a history where it is told a file, the driver's calls elsewhere.
_ALLOCATIONS = """
import json, os, sys
program, steps = sys.argv[1:3]
if len(sys.argv) > 3:
    for level, text in {"tensors": "A 7f00 512\\nA 8f00 1024\\nF 7f00\\nA 7f00 2048\\nF 99\\n", "segments": "A 7f00 2097152\\n"}.items():
        with open(f"{sys.argv[3]}.{level}", "w") as file:
            file.write(text)
else:
    with open(os.environ["TESSERA_TRACE"], "w") as trace:
        for name, status, first, second in (
            ("cuMemAlloc_v2", 0, "7f0000000000", "200000"),
            ("cuMemAlloc_v2", 2, "7ffe00112233", "20000000000"),
            ("cuMemAlloc_v2", 0, "7f0000000000", "400000"),
            ("cuMemFree_v2", 0, "7f0000000000", "0"),
            ("cuMemFree_v2", 0, "7f0000000000", "0"),
            ("cuMemCreate", 0, "55aa", "1400000"),
        ):
            trace.write(f"1 2 {name} {status} {first} {second} 0 0 0 0 0 0 0 0\\n")
        trace.write("1 2 cuMemA")
print("a line that is not JSON")
print(json.dumps({"program": program, "steps": int(steps), "seconds": 0.1, "torch": "none", "peak_bytes": 3 << 20}))
"""


class TracesSuiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="traces-suite-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        tessera = self.path("home", "tools", "tessera")
        os.makedirs(os.path.dirname(tessera))
        with open(tessera, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} {HERE}/scripted_tessera.py "$@"\n')
        os.chmod(tessera, stat.S_IRWXU)
        environment = {"PYTHONPATH": os.path.dirname(os.path.dirname(HERE)), "TESSERA_SHM_DIR": self.path("shm")}
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        self.setting = Setting(Installation(self.path("home")), self.folder, self.folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def recorder(self, text):
        """The stand-in that takes the place of workloads/allocations.py."""
        with open(self.path("allocations.py"), "w", encoding="utf-8") as file:
            file.write(text)

    def run_suite(self, **constants):
        suite = load("traces")
        record = Record("traces", {"date": "today", "gpu": "scripted"}, self.folder, 480)
        with mock.patch.multiple(suite, TIMEOUT_S=60, **constants):
            record.attempt("traces", lambda: suite.run(self.setting, record))
        return record, render(record.as_object())

    def test_every_level_is_kept_under_numbers(self):
        self.recorder(_ALLOCATIONS)
        record, text = self.run_suite()
        self.assertEqual([], record.problems)

        def kept(name):
            with gzip.open(self.path("traces", f"{name}.gz"), "rt") as lines:
                return lines.read().splitlines()

        self.assertEqual(["+ 0 512", "+ 1 1024", "- 0", "+ 0 2048"], kept("gpt.tensors"))
        self.assertEqual(["+ 0 2097152"], kept("mlp.segments"))
        # The second allocation shows that the first was freed, whose line came late; the second free is its own.
        self.assertEqual(["+ 0 2097152", "- 0", "+ 0 4194304", "- 0", "c 0 20971520"], kept("serving-expandable.calls"))
        self.assertIn("| serving-expandable | calls | 250 | 5 | 5 | 0 | 3 |", text)

    def test_what_is_too_large_loses_its_end(self):
        lines = 'tensors.write("".join(f"A {at * 512:x} {512 + at * at % 7919}\\n" for at in range(5000)))'
        self.recorder(_ALLOCATIONS.replace("print(", f'with open(sys.argv[3] + ".tensors", "w") as tensors:\n    {lines}\nprint(', 1))
        record, _ = self.run_suite(CASES={"gpt": load("traces").Case("gpt", 1)}, LIMIT_BYTES=4096)
        self.assertEqual([], record.problems)
        (one,) = (result for result in record.results if result["level"] == "tensors")
        self.assertEqual(5000, one["operations"])
        self.assertTrue(500 < one["kept"] < 5000 and one["bytes"] <= 4096, one)

    def test_a_machine_without_a_device_is_a_problem(self):
        self.recorder("raise SystemExit('no CUDA device')")
        record, _ = self.run_suite(CASES={"gpt": load("traces").Case("gpt", 1)})
        self.assertIn("no CUDA device", record.problems[0]["error"])
