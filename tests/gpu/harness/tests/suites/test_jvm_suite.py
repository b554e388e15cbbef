"""The suite for JVM programs from its first step to its tables, with a stand-in for Java."""

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

#: An agent makes a launch a tenth slower here; a launch is a microsecond, a request a millisecond.
_JAVA = """#!/usr/bin/env python3
import json, os, sys, time
words = sys.argv[1:]
if "-Xshare:dump" in words:
    sys.exit(0)
if "org.openjdk.jmh.Main" in words:
    if os.path.exists(os.environ.get("WRONG", "")):
        sys.exit("no device")
    data = {"plainNs": [[100.0, 200.0]], "recordedNs": [[101.0, 202.0]], "againNs": [[100.0, 204.0]], "launches": [[10, 20]]}
    metrics = {name: {"rawData": values} for name, values in data.items()}
    with open(words[words.index("-rff") + 1], "w") as file:
        json.dump([{"params": {"mode": mode}, "secondaryMetrics": metrics} for mode in ("off", "sampled:64")], file)
    sys.exit(0)
agent = next((word.split("tessera-agent.jar=")[1] for word in words if word.startswith("-javaagent:")), None)
wrapped = "SCRIPTED_SEGMENT" in os.environ
if ("TESSERA_RUNTIME_DIR" in os.environ) != (agent is not None or wrapped):
    sys.exit("runs beside the manager")
if "CaffeTraining" in words:
    os.execv(os.path.join(os.path.dirname(words[-1]), "..", "train"), ["train", words[-1]])
alone = agent and os.path.exists(os.environ.get("ALONE", ""))
if alone:
    print("tessera-agent: no manager", file=sys.stderr)
program = next(word for word in words if word.startswith("io.tessera.samples.")).split(".")[-1]
if program in ("Idle", "VectorAdd", "Gemm", "Reduction", "Streams", "AsyncCopies", "JavaCppSaxpy"):
    print(program + ": correct")
    sys.exit(0)
if agent and not wrapped and not alone:
    tessera = os.path.join(os.path.dirname(sys.argv[0]), "..", "..", "tools", "tessera")
    os.execv(tessera, [tessera, "run", "--", sys.argv[0], *words])
print(json.dumps({"what": "ready"}), flush=True)
for line in sys.stdin:
    amount = int(line.split()[1])
    if program == "LaunchLoop":
        ms = amount / 1000 * (1.1 if agent and "record" not in agent else 1.0)
        answer = {"launches": amount, "ms": ms}
    else:
        time.sleep(amount / 1000)
        answer = {"requests": amount, "ms": float(amount)}
    print(json.dumps({**answer, "right": not os.path.exists(os.environ.get("WRONG", ""))}), flush=True)
"""


def _executable(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


#: Stand-in for Caffe's training, in C++ and in Java: the loss falls with the iterations.
_CAFFE = """#!/usr/bin/env python3
import json, sys
assert sys.argv[-1].endswith("lenet.prototxt")
print(json.dumps({"what": "ready", "start_ms": 1.0}), flush=True)
done = 0
for line in sys.stdin:
    done += int(line.split()[1])
    print(json.dumps({"iterations": int(line.split()[1]), "ms": 150.0, "loss": hex(done)}), flush=True)
"""


class JvmSuiteTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="jvm-suite-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        home = self.path("home")
        _executable(
            os.path.join(home, "tools", "tessera"),
            f'#!/bin/sh\nexec {sys.executable} {HERE}/scripted_tessera.py "$@"\n',
        )
        _executable(os.path.join(home, "jre", "bin", "java"), _JAVA)
        for name in ("agent/tessera-agent.jar", "jvm/classes/x", "jvm/app/jcuda.jar", "bench/agent/jmh-core.jar"):
            os.makedirs(os.path.dirname(os.path.join(home, name)), exist_ok=True)
            open(os.path.join(home, name), "wb").close()
        workloads = self.path("workloads")
        os.mkdir(workloads)
        os.symlink(os.path.join(HERE, "paced_workload.py"), os.path.join(workloads, "mlp.py"))
        environment = {
            "PYTHONPATH": os.path.dirname(os.path.dirname(HERE)),
            "TESSERA_SHM_DIR": self.path("shm"),
            "WRONG": self.path("wrong"),
            "ALONE": self.path("alone"),
            "TESSERA_CAFFE": self.path("caffe"),
        }
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        self.installation = Installation(home)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_suite(self, *only, **constants):
        record = Record("jvm", {"date": "today", "gpu": "scripted"}, self.folder, 480)
        suite = load("jvm")
        constants = {"STARTS": 3, "LAUNCH_ROUNDS": 2, "LAUNCHES": 1000, "ROUNDS": 2, "ALONE_S": 0.4, "WINDOW_S": 0.5, **constants}
        with mock.patch.multiple(suite, **constants):
            suite.run(Setting(self.installation, self.path("workloads"), self.folder, only), record)
        return record, render(record.as_object())

    def test_all_cases(self):
        self.enterContext(mock.patch.multiple("harness.java.java_samples", WATCH_S=0.3, LOOK_EVERY_S=0.1))
        record, text = self.run_suite("samples", "starts", "launches", "recording", "services")
        self.assertEqual([], record.problems)
        self.assertEqual(12, sum(one["kind"] == "start" for one in record.results))
        self.assertRegex(text, r"\| VectorAdd \| .* \| ≤ 150: (met|missed) \|")
        self.assertIn("| tessera run | 1000 (1000–1000) | 1.000 | 1.000 | – |", text)
        self.assertIn("| off | 1000 (1000–1000) | 1.000 | 1.000 | ≤ 1.002: met |", text)
        self.assertIn("| sampled | 1100 (1100–1100) | 1.100 | 1.100 | ≤ 1.01: missed |", text)
        self.assertIn("| Gemm | yes | yes | yes | yes |", text)
        self.assertIn("| JavaCppSaxpy | – | yes | yes | yes |", text)
        self.assertRegex(text, r"\| \d+\.\d+ \| leaking: Leaker\.java:1 \|")
        self.assertIn("| off | 10 | 1.0050 (1.0000–1.0100) | 1.0100 (1.0000–1.0200) | ≤ 1.002: missed |", text)
        self.assertIn("| sampled:64 | 10 | 1.0050 (1.0000–1.0100) | 1.0100 (1.0000–1.0200) | ≤ 1.01: met |", text)
        ways = [one["way"] for one in record.results if one["kind"] == "crowd"]
        self.assertEqual(["native", "in turns", "relay", "in turns", "relay", "native"], ways)
        self.assertRegex(text, r"\| relay \| 1000 \| 1000 \| [\d.]+ \| 1.000 \| 1.000 \| [\d.]+ \| [\d.]+ \|")

    def test_caffe(self):
        record, _ = self.run_suite("caffe")
        self.assertIn("no Caffe for Java in", record.problems[0]["error"])
        _executable(self.path("caffe", "train"), _CAFFE)
        os.mkdir(self.path("caffe", "java"))
        os.mkdir(self.path("caffe", "nets"))
        os.mkdir(self.path("caffe", "lib"))
        with open(self.path("caffe", "images"), "w", encoding="utf-8") as images:
            images.write("libcublas.so.11 0 9\nlibcufft.so.10 0 99\nlibcaffe.so.1.0.0 0 10\n")
        _executable(self.path("caffe", "warm"), "#!/bin/sh\ncat >/dev/null; echo 0 2\n")
        record, _ = self.run_suite("caffe")
        self.assertIn("images could be loaded", record.problems[0]["error"])
        _executable(self.path("caffe", "warm"), f'#!/bin/sh\ncat >{self.path("warmed")}-$1; echo 1 0\n')
        record, text = self.run_suite("caffe")
        self.assertEqual([], record.problems)
        with open(self.path("warmed-0"), encoding="utf-8") as warmed:
            self.assertEqual("libcaffe.so.1.0.0 0 10\nlibcublas.so.11 0 9\n", warmed.read())
        self.assertIn("| native, C++ | 0.500 | 1.000 | – |", text)
        self.assertIn("| relay | 0.500 | 1.000 | yes |", text)

    def test_a_wrong_answer_is_a_problem(self):
        open(self.path("wrong"), "wb").close()
        record, _ = self.run_suite("launches", "recording")
        self.assertIn("computed something wrong", record.problems[0]["error"])
        self.assertIn("JMH ended with 1: no device", record.problems[1]["error"])

    def test_a_program_that_is_no_tenant_is_a_problem(self):
        open(self.path("alone"), "wb").close()
        record, _ = self.run_suite("starts", "launches")
        errors = " ".join(problem["error"] for problem in record.problems)
        self.assertIn("Idle: tessera-agent: no manager", errors)
        self.assertIn("launches-off is no tenant", errors)

    def test_what_the_kit_lacks_is_named(self):
        os.unlink(self.installation.path("agent", "tessera-agent.jar"))
        record, _ = self.run_suite()
        (problem,) = record.problems
        self.assertEqual("the kit has no agent (agent/tessera-agent.jar): build it with tests/gpu/kit --jvm", problem["error"])


if __name__ == "__main__":
    unittest.main()
