"""Every suite from its first step to its table, on a scripted Tessera and paced stand-ins for the trainings."""

import gzip
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

HERE = os.path.dirname(os.path.abspath(__file__))
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
        for name in ("mlp", "gpt", "resnet", "triton_kernel"):
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
        record, text = self.run_suite(
            "pairs",
            REPEATS=1,
            ALONE_S=0.1,
            WINDOW_S=0.1,
            AUTO_SETTLE_S=0.1,
            AUTO_WINDOWS=1,
            PAIRS={"mlp+mlp": ("mlp", "mlp")},
        )
        self.assertEqual(["mlp+mlp mps"], [problem["step"] for problem in record.problems])
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

    def test_spaces(self):
        record, text = self.run_suite("spaces", REPEATS=2, ALONE_S=0.1, WINDOW_S=0.2, PAIRS={"gpt+mlp": ("gpt", "mlp")})
        self.assertEqual([], record.problems)
        self.assertIn("| gpt+mlp |", text)

    def test_costs(self):
        _executable(self.path("home", "programs", "costs"), '#!/bin/sh\necho \'{"launchNs": 100, "startMs": 5}\'\n')
        record, text = self.run_suite("costs", REPEATS=2)
        self.assertEqual([], record.problems)
        self.assertIn("| launch, ns of the calling thread | 100", text)

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
        self.assertIn("| copies | NO | NO | lost |", text)
        self.assertIn("| device_assert | yes | yes |", text)

    def test_a_case_that_does_not_exist_is_refused_by_name(self):
        with self.assertRaisesRegex(ValueError, "no such case: gtp; there are gpt, mlp"):
            Setting(None, "", "", ("gtp",)).chosen(("gpt", "mlp"))


if __name__ == "__main__":
    unittest.main()
