"""Every suite from its first step to its table, on a scripted Tessera and paced stand-ins for the trainings."""

import gzip
import json
import os
import shutil
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
GPU_FOLDER = os.path.dirname(os.path.dirname(HERE))

_MPS = """#!/bin/sh
# Scripted MPS control: '-f' stays until 'quit' comes through the directory it was given.
if [ "$1" = -f ]; then while [ ! -e "$CUDA_MPS_PIPE_DIRECTORY/quit" ]; do sleep 0.05; done; exit 0; fi
read -r word rest
case $word in quit) : >"$CUDA_MPS_PIPE_DIRECTORY/quit";; get_server_list) echo;; *) exit 1;; esac
"""

_PROBE = """#!/bin/sh
echo '{"driver": {"status": "ok"}}'
"""

_GATE = """#!/bin/sh
echo '{"direct_ns": 2.0, "through_ns": 5.0, "difference_ns": 3.0, "ratio": 2.5}'
"""


_CONFORMANCE = """#!/bin/sh
[ "$(cat "$1")" = cases ] || exit 3
cat <<END
{"mismatches":[{"case":"add.u32","record":7,"result":0,"inputs":["0x1","0x2"],"expected":"0x3","got":"0x4"}],
"cases":3,"passed":1,"failed":1,"refused":1,"values":64,"different":2,"seconds":0.1,"instructions":[],
"tolerances":[{"name":"exact","cases":3,"passed":1,"failed":1,"refused":1,"values":64,"different":2}],
"notPassed":[{"name":"add.u32","cases":1,"refused":0,"different":2,"values":32},
{"name":"sub.u32","cases":1,"refused":1,"different":0,"values":0}]}
END
"""

_TRAIN = """#!/usr/bin/env python3
# Stand-in for Caffe: every iteration takes half a millisecond and lowers the loss.
import json, sys, time
print(json.dumps({"what": "ready", "net": sys.argv[1], "start_ms": 12.5, "first": "0x2p+0", "loss": "0x1p+0"}), flush=True)
done = 0
for line in sys.stdin:
    what, iterations = line.split()
    done += int(iterations)
    ms = 0.5 * int(iterations)
    time.sleep(ms / 1000)
    print(json.dumps({"what": what, "iterations": int(iterations), "ms": ms, "loss": hex(done), "shown": 0}), flush=True)
"""

_MIX = """#!/usr/bin/env python3
# Stand-in for a program of a mix: an iteration takes a millisecond; what comes out depends on kind and iterations alone.
import json, sys, time
print(json.dumps({"what": "ready", "start_ms": 1.5}), flush=True)
for line in sys.stdin:
    count = int(line.split()[1])
    time.sleep(count / 1000)
    print(json.dumps({"ms": float(count), "iterations": count, "checksum": sys.argv[1] + str(count)}), flush=True)
"""

#: A stand-in whose steps leave the lines that the preload library would write under TESSERA_TRACE.
_TRACED = f"""
import os, sys
sys.path.insert(0, {HERE!r})
from paced_workload import PacedTrainer, Session

class Traced(PacedTrainer):
    def note(self, *calls):
        with open(os.environ["TESSERA_TRACE"], "a") as trace:
            for name, answers, words in calls:
                trace.write(f"1 2 {{name}} 0 0 0 0 0 0 0 0 0 {{answers}} {{words}}\\n")

    def step(self):
        super().step()
        self.note(("cuLaunchKernel", 0, 0), ("cuLaunchKernel", 0, 0), ("cuMemAlloc_v2", 1, 0), ("cuStreamSynchronize", 0, 1))

    def state_digest(self):
        self.note(("cuMemcpyDtoH_v2", 1, 1))
        return super().state_digest()

trainer = Traced(0.001)
trainer.step()
Session(trainer).serve()
"""


def _executable(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)


_FENCES = """#!/bin/sh
form() {
    printf '{"mode":"%s","refused":0,"us":10,"ratio":%s,"registers":%s,"localBytes":0,"differences":%s,"violations":0}' "$@"
}
kernel() {
    printf '{"kernel":"%s","file":"dense","forms":[%s,%s]}\\n' "$1" "$(form native 1 8 0)" "$(form mask "$2" 9 "$3")"
}
case "$5" in
saxpy,*) kernel saxpy 1 0; echo hangs >&2; exit 3 ;;
copy) kernel copy 1.21 1 ;;
esac
"""


class SuitesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="suites-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        home = self.path("home")
        _executable(os.path.join(home, "bin", "tessera-probe"), _PROBE)
        _executable(os.path.join(home, "bench", "gate", "run"), _GATE)
        _executable(
            os.path.join(home, "tools", "tessera"),
            f'#!/bin/sh\nexec {sys.executable} {HERE}/scripted_tessera.py "$@"\n',
        )
        os.mkdir(os.path.join(home, "lib"))
        # Any library that a program can be started with.
        with open("/proc/self/maps", encoding="utf-8") as maps:
            library = next(line.split()[-1] for line in maps if "/libm.so" in line or "/libm-" in line)
        shutil.copy(library, os.path.join(home, "lib", "libcuda.so.1"))
        _executable(self.path("path", "nvidia-cuda-mps-control"), _MPS)
        workloads = self.path("workloads")
        os.mkdir(workloads)
        for name in ("mlp", "gpt", "resnet", "resnet_twice", "triton_kernel", "wide", "server", "gemm", "stream", "inference"):
            os.symlink(os.path.join(HERE, "paced_workload.py"), os.path.join(workloads, f"{name}.py"))
        environment = {
            "PATH": self.path("path") + ":" + os.environ["PATH"],
            "PYTHONPATH": GPU_FOLDER,
            "TESSERA_SHM_DIR": self.path("shm"),
        }
        patch = mock.patch.dict(os.environ, environment)
        patch.start()
        self.addCleanup(patch.stop)
        self.setting = Setting(Installation(home), workloads, self.folder)

    def path(self, *parts):
        return os.path.join(self.folder, *parts)

    def run_suite(self, name, **constants):
        record = Record(name, {"date": "today", "gpu": "scripted"}, self.folder, 480)
        suite = load(name)
        with mock.patch.multiple(suite, **constants):
            record.attempt(name, lambda: suite.run(self.setting, record))
        with open(record.path, encoding="utf-8") as file:
            self.assertIn('"results"', file.read())
        return record, render(record.as_object())

    def test_alone(self):
        record, text = self.run_suite(
            "alone", REPEATS=2, WINDOW_S=0.1, LOSS_STEPS=3, ROUNDS={"gpt": 1, "resnet": 1, "mlp": 1}, WORKLOADS=("gpt",)
        )
        self.assertEqual([], record.problems)
        self.assertEqual(6, sum(one["kind"] == "rate" for one in record.results))
        self.assertIn("| gpt | yes | yes | yes | 3 | 3.0 |", text)

    def test_counts(self):
        record, text = self.run_suite("counts", STEPS=5)
        self.assertEqual([], record.problems)
        self.assertIn("| triton | 15 | 15 | 0 | 0 | yes | 15 | none |", text)

    def test_pairs(self):
        record, text = self.run_suite(
            "pairs",
            REPEATS=2,
            ALONE_S=0.1,
            WINDOW_S=0.2,
            AUTO_SETTLE_S=0.3,
            AUTO_WINDOWS=2,
            PAIRS={"gpt+gpt": ("gpt", "gpt"), "gpt+mlp": ("gpt", "mlp")},
        )
        self.assertEqual([], record.problems)
        # Paced programs do not hinder each other: two of them do two programs' work.
        whole = next(one for one in record.results if one["kind"] == "whole")
        self.assertEqual("free", whole["decisions"][0]["effective"])
        self.assertIn("| gpt+gpt |", text)
        self.assertIn("gpt+mlp, auto: free (scripted)", text)

    def test_pairs_without_mps_measures_the_rest(self):
        os.unlink(self.path("path", "nvidia-cuda-mps-control"))

        def measure(workers, seconds):
            return [100.0 for _ in workers], []

        def measure_windows(workers, settle_s, window_s, count, during):
            during()
            return [measure(workers, window_s)[0] for _ in range(count)], *measure(workers, window_s)

        # Windows of real time would be empty on a busy machine.
        record, text = self.run_suite(
            "pairs",
            REPEATS=1,
            AUTO_WINDOWS=1,
            PAIRS={"mlp+mlp": ("mlp", "mlp")},
            measure=measure,
            measure_windows=measure_windows,
        )
        self.assertEqual(["mlp+mlp mps"], [problem["step"] for problem in record.problems])
        ways = {one["way"] for one in record.results if one["kind"] == "window"}
        self.assertEqual({"time-slicing", "off", "on", "auto"}, ways)
        self.assertIn("| mlp+mlp |", text)
        self.assertIn("nvidia-cuda-mps-control is not on the PATH", text)

    def test_sweep(self):
        record, text = self.run_suite("sweep", QUANTA_MS=(20, 50), LEAST_WINDOW_S=0.2, WINDOWS=2)
        self.assertEqual([], record.problems)
        self.assertIn("| 50 ms |", text)

    def test_fairness(self):
        record, text = self.run_suite(
            "fairness", WINDOW_S=0.2, WINDOWS=3, CASES={"auto": ("auto", None, 0.1), "on": ("on", 5_000_000, 0.1)}
        )
        self.assertEqual([], record.problems)
        self.assertIn("| on | exclusive | 5 ms |", text)

    def test_handover(self):
        record, text = self.run_suite("handover", SECONDS=1, PAIRS={"gpt+gpt": ("gpt", "gpt")})
        self.assertEqual([], record.problems)
        self.assertIn("| gpt+gpt |", text)
        self.assertIn("≤ 2 ms: met", text)

    def test_overhead(self):
        record, text = self.run_suite("overhead", STARTS=2, IDLE_S=0.2, IDLE_WITH_CLIENT_S=0.1)
        self.assertEqual([], record.problems)
        self.assertIn("| tessera run true |", text)
        self.assertIn("| manager | 2.000 | 5.000 | 3.000 | 2.500 |", text)

    def test_overhead_does_not_time_a_library_that_is_not_loaded(self):
        os.unlink(self.setting.installation.library)
        record, text = self.run_suite("overhead", STARTS=2, IDLE_S=0.1, IDLE_WITH_CLIENT_S=0.1)
        self.assertEqual(["starts"], [problem["step"] for problem in record.problems])
        self.assertNotIn("tessera run true", text)

    def test_conformance(self):
        program = os.path.join(self.setting.installation.home, "programs", "conformance")
        with gzip.open(self.setting.installation.path("conformance.cases.gz"), "wb") as cases:
            cases.write(b"cases")
        _executable(program, _CONFORMANCE)
        record, text = self.run_suite("conformance", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| exact | 3 | 1 | 1 | 1 | 64 | 2 | – |", text)
        self.assertIn("| add.u32 | NO | 2 | 32 |", text)
        self.assertIn("| add.u32 | 7 | 0x1, 0x2 | 0 | 0x3 | 0x4 |", text)
        _executable(program, "#!/bin/sh\necho 'cuInit failed' >&2; exit 1\n")
        record, text = self.run_suite("conformance", TIMEOUT_S=20)
        self.assertIn("cuInit failed", record.problems[0]["error"])

    def test_smoke_names_what_is_missing(self):
        record, text = self.run_suite("smoke", STEPS=3)
        # The stand-in library has none of the driver's names; a machine without a driver has none to compare with.
        self.assertEqual(["exports"], [problem["step"] for problem in record.problems])
        self.assertIn("| losses equal | yes | 3 programs |", text)
        self.assertIn("| mlp managed | yes |", text)

    def test_relay(self):
        record, text = self.run_suite(
            "relay", REPEATS=2, WINDOW_S=0.1, LOSS_STEPS=3, ROUNDS={"gpt": 1, "resnet": 1, "mlp": 1}, WORKLOADS=("gpt",)
        )
        self.assertEqual([], record.problems)
        self.assertIn("### Alone by relay", text)
        self.assertIn("| gpt | yes | 3 |", text)
        self.assertEqual(4, sum(one["kind"] == "rate" for one in record.results))

    def test_starts(self):
        record, text = self.run_suite("starts", ALTERNATIONS=2, WORKLOADS=("gpt",))
        self.assertEqual([], record.problems)
        self.assertEqual(5, sum(one["kind"] == "start" for one in record.results))
        self.assertIn("### Start on a warm executor", text)

    def test_flooding(self):
        answer = {"calmNs": 1000, "floodedNs": 1500, "calmWorstNs": 2000, "floodedWorstNs": 5000, "calmP99Ns": 1, "floodedP99Ns": 2}
        _executable(self.path("home", "programs", "fairness"), f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
        record, text = self.run_suite("flooding", SECONDS=1)
        self.assertEqual([], record.problems)
        self.assertIn("| median client's median | 1000 | 1500 | 1.500 | ≤ 2.0: met |", text)
        self.assertIn("| worst client's median | 2000 | 5000 | 2.500 | ≤ 2.0: missed |", text)

    def test_waits(self):
        os.unlink(self.path("workloads", "gpt.py"))
        with open(self.path("workloads", "gpt.py"), "w", encoding="utf-8") as file:
            file.write(_TRACED)
        record, text = self.run_suite("waits", WORKLOADS=("gpt",))
        self.assertEqual([], record.problems)
        (one,) = (result for result in record.results if result["kind"] == "waits")
        self.assertEqual({"cuLaunchKernel": 2.0, "cuMemAlloc_v2": 1.0, "cuStreamSynchronize": 1.0}, one["calls"])
        self.assertEqual({"cuMemAlloc_v2": 1.0}, one["answers"])
        self.assertEqual({"cuStreamSynchronize": 1.0}, one["words"])
        self.assertIn("| gpt | 4.000 | 1.000 | ≤ 2: met | cuMemAlloc_v2 1.00 | 1.000 | cuStreamSynchronize 1.00 |", text)

    def test_spaces(self):
        record, text = self.run_suite("spaces", REPEATS=2, ALONE_S=0.1, WINDOW_S=0.2, PAIRS={"gpt+mlp": ("gpt", "mlp")})
        self.assertEqual([], record.problems)
        self.assertIn("| gpt+mlp |", text)

    def test_costs(self):
        _executable(self.path("home", "programs", "costs"), '#!/bin/sh\necho \'{"launchNs": 100, "startMs": 5}\'\n')
        record, text = self.run_suite("costs", REPEATS=2)
        self.assertEqual([], record.problems)
        self.assertIn("| launch, ns of the calling thread | 100", text)

    def test_sharing(self):
        _executable(
            self.path("home", "programs", "sharing"),
            '#!/bin/sh\n[ "$1" = 3 ] && { echo "byte 7 of 9 is 1, not 2" >&2; exit 1; }\n'
            'echo \'{"mib": 8, "firstExportNs": 21, "plainMapNs": 33, "exportableMapNs": 34, "checked": 240}\'\n',
        )
        record, text = self.run_suite("sharing", LARGE_MIB=8)
        self.assertEqual([], record.problems)
        self.assertIn("| export of 200 MiB, the process's first, while a stream writes it | 21 | 21 | 21 |", text)
        self.assertIn("| contents right | 240 | 240 | 240 |", text)
        self.assertIn("| map, and set access | 33 | 34 |", text)
        record, text = self.run_suite("sharing", LARGE_MIB=3)
        self.assertEqual(["native", "swap", "auto"], [problem["step"] for problem in record.problems])

    def test_moves(self):
        _executable(self.path("home", "programs", "swap_paths"), "#!/bin/sh\necho done 10 2 3\n")
        _executable(
            self.path("home", "programs", "moving_manager"),
            '#!/bin/sh\necho listening\ncase "$*" in *pinned=0*) failed=1 ;; *) failed=0 ;; esac\n'
            "echo moved 7 2000000000 1900000000 $failed\nread line || exit 0\n",
        )
        record, text = self.run_suite("moves", SECONDS=1)
        self.assertEqual([], record.problems)
        self.assertIn("| native | 15 | – | – | – |", text)
        self.assertIn("| pinned | 15 | 7 | 2.0 / 1.9 | 0 |", text)
        self.assertIn("| pageable | 15 | 7 | 2.0 / 1.9 | 1 |", text)

    def test_moves_says_what_was_wrong(self):
        _executable(self.path("home", "programs", "swap_paths"), "#!/bin/sh\necho word 7 is wrong >&2; exit 1\n")
        record, _ = self.run_suite("moves", SECONDS=1, CASES={"native": None})
        self.assertEqual(["native"], [problem["step"] for problem in record.problems])

    def test_programs(self):
        _executable(self.path("home", "cuda", "sum"), "#!/bin/sh\necho sum 3 ok\n")
        _executable(self.path("home", "cuda", "wrong"), '#!/bin/sh\necho "sum $$ WRONG"\n')
        record, text = self.run_suite("programs", TIMEOUT_S=20)
        self.assertEqual([], record.problems)
        self.assertIn("| sum | yes | yes | yes |", text)
        self.assertIn("| wrong | NO | NO | NO |", text)

    def test_programs_that_are_missing_are_named(self):
        record, _ = self.run_suite("programs", TIMEOUT_S=20)
        self.assertEqual(["programs"], [problem["step"] for problem in record.problems])

    def test_caffe(self):
        caffe = self.path("caffe")
        _executable(os.path.join(caffe, "train"), _TRAIN)
        _executable(os.path.join(caffe, "warm"), "#!/bin/sh\ncat >/dev/null; echo 3 1\n")
        _executable(os.path.join(caffe, "samples"), '#!/bin/sh\necho "$1 0123 1 2"\necho "$1 4567 1 2"\n')
        os.mkdir(os.path.join(caffe, "lib"))
        with open(os.path.join(caffe, "images"), "w", encoding="utf-8") as images:
            images.write("libcublas.so.11 128 4096\n")
        _executable(self.path("path", "ptxas"), "#!/bin/sh\nexit 1\n")
        with mock.patch.dict(os.environ, {"TESSERA_CAFFE": caffe}):
            record, text = self.run_suite(
                "caffe",
                REPEATS=2,
                WINDOW_MS=20.0,
                CASES={"lenet": ("lenet", "caffe", "caffe")},
                CROWDS={"lenet×2": ("lenet", 2)},
            )
        self.assertEqual([], record.problems)
        self.assertEqual(12, sum(one["kind"] == "window" for one in record.results))
        self.assertRegex(text, r"\| lenet \| train \| 0.500 \| 0.500 \| 0.500 \| 1.000 \| 1.000 \| ≤ 1.04: met \| yes \|")
        self.assertRegex(text, r"\| lenet×2 \| infer \|")
        self.assertIn("| second | 12.50 |", text)
        self.assertRegex(text, r"\| 1 \| 2 \| 1.000 \| 0 \|")
        self.assertIn("| curand | 2 | yes | yes | yes |", text)

    def test_caffe_that_complains_or_is_missing_is_a_problem(self):
        caffe = self.path("caffe")
        with mock.patch.dict(os.environ, {"TESSERA_CAFFE": caffe}):
            record, _ = self.run_suite("caffe", REPEATS=1)
            self.assertIn("no Caffe in", record.problems[0]["error"])
            _executable(
                os.path.join(caffe, "train"), _TRAIN.replace("done = 0", "done = 0; print('E1121 cublas', file=sys.stderr)")
            )
            record, text = self.run_suite(
                "caffe", REPEATS=1, WINDOW_MS=5.0, CASES={"lenet": ("lenet", "caffe", "caffe")}, CROWDS={}, BEFORE=(), SAMPLES=()
            )
        self.assertEqual(["native-lenet", "relay-lenet", "fenced-lenet"], [one["step"] for one in record.problems][::-1])

    def test_mixes(self):
        _executable(self.path("home", "programs", "mix"), _MIX)
        record, text = self.run_suite("mixes", WORK_S=0.05, PROBE_S=0.01, CROWDS={"2 programs": 2, "4 programs": 4})
        self.assertEqual([], record.problems)
        self.assertEqual(12, sum(one["kind"] == "crowd" for one in record.results))
        self.assertEqual(["time-slicing", "mps", "fenced"], [one["way"] for one in record.results if one["kind"] == "crowd"][:3])
        self.assertRegex(text, r"\| 4 programs \| 0.200 \| \d.\d+ \| \d.\d+ \| \d.\d+ \| .* \| yes \|")
        self.assertIn("| bodies | 50 | 50.00 | 50.00 | 1.000 | yes | 50.00 | 50.00 | 50.00 |", text)
        self.assertNotIn("| histogram |", text)

    def test_mixes_with_another_result_or_a_program_that_ends_say_so(self):
        wrong = _MIX.replace("sys.argv[1] +", '("CUDA_MPS_PIPE_DIRECTORY" in os.environ and sys.argv[1] == "training" and "x" or "") +')
        ended = wrong.replace("time.sleep", 'sys.argv[1] == "bodies" and "SCRIPTED_SEGMENT" in os.environ and count > 90 and sys.exit(3); time.sleep')
        _executable(self.path("home", "programs", "mix"), ended.replace("import json", "import json, os"))
        record, text = self.run_suite("mixes", WORK_S=0.1, PROBE_S=0.01, ROUNDS=1, CROWDS={"2 programs": 2, "4 programs": 4})
        self.assertEqual(["alone", "4 programs fenced"], [problem["step"] for problem in record.problems])
        self.assertIn("fenced-bodies ended with status 3", record.problems[0]["error"])
        self.assertRegex(text, r"\| 2 programs \| .* \| NO \|")
        self.assertRegex(text, r"\| 4 programs \| 0.400 \| \d.\d+ \| \d.\d+ \| – \| – \| ≤ 1.03: – \|")

    def test_mixes_that_are_missing_are_a_problem(self):
        record, text = self.run_suite("mixes", ROUNDS=1)
        self.assertEqual(["mixes"], [problem["step"] for problem in record.problems])
        self.assertIn("had no nvcc", record.problems[0]["error"])

    def test_lone_programs(self):
        _executable(self.path("home", "programs", "mix"), _MIX)
        record, text = self.run_suite("lone", WORK_S=0.05, RUNS=2, PROGRAMS=("stencil", "sorting"))
        self.assertEqual([], record.problems)
        self.assertEqual(["native", "native", "relay", "relay", "fenced", "fenced"] * 2, [one["way"] for one in record.results])
        self.assertRegex(text, r"\| sorting \| 50 \| 50.00 \| 50.00 \| 1.000 \| 50.00 \| 1.000 \| yes \|")

    def test_lone_programs_with_another_result_say_so(self):
        wrong = _MIX.replace("sys.argv[1] +", '("SCRIPTED_SEGMENT" in os.environ and "x" or "") +')
        _executable(self.path("home", "programs", "mix"), wrong.replace("import json", "import json, os"))
        _, text = self.run_suite("lone", WORK_S=0.05, RUNS=2, PROGRAMS=("stencil",))
        self.assertIn("| NO |", text)

    def test_fences(self):
        os.makedirs(self.path("home", "fences"))
        with open(self.path("home", "fences", "cases"), "w", encoding="ascii") as cases:
            cases.write("# file kernel\ndense saxpy 1 1 0\ndense hangs 1 1 0\ndense copy 1 1 0\n")
        _executable(self.path("home", "fences", "fences"), _FENCES)
        record, text = self.run_suite("fences", TIMEOUT_S=20)
        self.assertEqual(["hangs", "copy"], [problem["step"] for problem in record.problems])
        self.assertIn("| mask | 2 | 1.100 | 1.210 | copy |", text)
        self.assertIn("| saxpy | 10 | 8 | 0 | 1 | 9 | 0 | yes |", text)

    def test_families(self):
        with open(self.path("workloads", "families.py"), "w", encoding="utf-8") as file:
            file.write(
                "import json, sys\n"
                "for name in sys.argv[1:]:\n"
                "    print(json.dumps({'case': name, 'ok': name != 'copies', 'detail': 'lost' * (name == 'copies')}))\n"
            )
        record, text = self.run_suite("families", TOGETHER=("copies", "threads"), APART={"device_assert": {}})
        self.assertEqual([], record.problems)
        self.assertIn("| copies | NO | NO | NO | lost |", text)
        self.assertIn("| device_assert | yes | yes | yes |", text)

    def test_a_case_that_does_not_exist_is_refused_by_name(self):
        with self.assertRaisesRegex(ValueError, "no such case: gtp; there are gpt, mlp"):
            Setting(None, "", "", ("gtp",)).chosen(("gpt", "mlp"))


if __name__ == "__main__":
    unittest.main()
