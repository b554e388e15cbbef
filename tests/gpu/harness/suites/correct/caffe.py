"""Caffe 1.0 as released with closed libraries: natively, by relay, wholly fenced; alone, and several at once.

Needs the files of tests/gpu/caffe/kit, unpacked into TESSERA_CAFFE (default /tmp/tessera-caffe).
"""

import contextlib
import importlib.util
import json
import os
import re
import shutil
import statistics
import tempfile
import time

from harness.bench import Placement, native, under_mps
from harness.caffe_cache import caches, fill
from harness.child import Child, run_bounded
from harness.figures import ratio, summary, verdict
from harness.mps import Mps
from harness.table import Table
from harness.tessera import Manager

#: Which net, and the library that computes pooling, activations and losses, and convolutions.
CASES = {
    "lenet": ("lenet", "caffe", "caffe"),
    "cifar": ("cifar", "caffe", "caffe"),
    "lenet-cudnn": ("lenet", "cudnn", "caffe"),
    "cifar-cudnn": ("cifar", "cudnn", "caffe"),
    "cifar-cudnn-convolution": ("cifar", "cudnn", "cudnn"),
}
CROWDS = {"lenet×2": ("lenet", 2), "lenet×4": ("lenet", 4), "cifar×2": ("cifar", 2), "cifar×4": ("cifar", 4)}
#: Steps before the cases: the driver's cache is filled, ours by the offline fencer, then what a fenced start costs.
BEFORE = ("warm", "ahead", "start")
#: Libraries whose sample calls are compared.
SAMPLES = ("cublas", "curand", "cufft")
ALONE_WAYS = ("native", "relay", "fenced")
CROWD_WAYS = ("time-slicing", "mps", "fenced")
KINDS = ("train", "infer")
REPEATS = 5
WINDOW_MS = 400.0
READY_TIMEOUT_S = 200.0
ANSWER_TIMEOUT_S = 60.0
AHEAD_TIMEOUT_S = 240.0
#: Libraries with kernels.
LIBRARIES = r"lib(caffe|cublas|cublasLt|curand|cufft|cudnn_.*)\.so"
#: Largest time against native, alone; the issue's figure.
BOUND = 1.04
#: Options of `tessera run`. A client that is alone in an executor is not fenced by default, so each way has an executor of its own.
OPTIONS = {"relay": "", "fenced": "--fence mask --fence-alone"}


def run(setting, record):
    """The cases that were asked for, one after the other."""
    home = os.environ.get("TESSERA_CAFFE", "/tmp/tessera-caffe")
    if not os.access(os.path.join(home, "train"), os.X_OK):
        record.problem("caffe", f"no Caffe in {home}: unpack the parts of tests/gpu/caffe/kit, or name it in TESSERA_CAFFE")
        return
    chosen = setting.chosen((*BEFORE, "samples", *CASES, *CROWDS))
    with caches():
        if "warm" in chosen:
            record.attempt("warm", lambda: fill(setting, record, home), 20)
        with contextlib.ExitStack() as stack:
            managers = {way: stack.enter_context(_manager(setting)) for way in OPTIONS}
            stage = _Stage(setting, record, home, managers)
            if "ahead" in chosen:
                record.attempt("ahead", lambda: stage.ahead(any("convolution" in name for name in chosen)), 30)
            if "start" in chosen:
                record.attempt("start", stage.start_twice, 20)
            if "samples" in chosen:
                for name in SAMPLES:
                    record.attempt(f"samples {name}", lambda: stage.samples(name), 20)
            for case in (name for name in CASES if name in chosen):
                record.attempt(case, lambda: stage.alone(case), 30)
            record.add("status", status=managers["fenced"].control.status())
            for crowd in (name for name in CROWDS if name in chosen):
                record.attempt(crowd, lambda: stage.crowd(crowd), 30)


@contextlib.contextmanager
def _manager(setting):
    """A manager whose segments lie in a folder of their own: two number their clients alike."""
    manager = Manager(setting.installation, setting.directory)
    with tempfile.TemporaryDirectory(prefix="tessera-caffe-", dir="/dev/shm") as segments:
        manager.environment["TESSERA_SHM_DIR"] = segments
        with manager:
            yield manager


class _Stage:
    """What the cases share: where things are, and how a program is started."""

    def __init__(self, setting, record, home, managers):
        self._setting = setting
        self._record = record
        self._home = home
        self._managers = managers

    def _place(self, way, mps=None):
        if way in ("native", "time-slicing"):
            return native()
        if way == "mps":
            return under_mps(mps)
        words = os.environ.get(f"TESSERA_GPU_{way.upper()}", OPTIONS[way]).split()
        manager = self._managers[way]
        return Placement(
            way,
            manager.environment,
            lambda command, name: manager.wrap(command, name=name, share="space", options=words),
        )

    def _start(self, stack, case, way, label, mps=None):
        net, engine, convolution = CASES[case]
        place = self._place(way, mps)
        library = os.path.join(self._home, "lib")
        environment = {**place.environment, "LD_LIBRARY_PATH": library}
        command = [
            os.path.join(self._home, "train"), os.path.join(self._home, "nets", f"{net}.prototxt"),
            "--engine", engine, "--convolution", convolution,
        ]  # fmt: skip
        log = os.path.join(self._setting.directory, f"{label}.log")
        child = Child(label, place.wrap(command, label), environment, log, self._home)
        stack.callback(lambda: self._complaints(label, log))
        stack.callback(child.close)
        return child

    def _complaints(self, label, log):
        """Caffe goes on after an error of a library and only logs it: that is a problem here."""
        with open(log, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if re.match(r"[EF]\d{4} |tessera:", line)]
        if lines:
            self._record.problem(label, f"{len(lines)} lines, first: {lines[0][:300]}")

    def ahead(self, convolutions):
        """The offline fencer over all libraries; without an assembler the first fenced start compiles by itself."""
        ptxas = _assembler()
        if ptxas is None:
            raise FileNotFoundError("no ptxas on the PATH nor in Triton; TESSERA_GPU_PTXAS names one")
        folder = os.path.join(self._home, "lib")
        names = [name for name in sorted(os.listdir(folder)) if re.match(LIBRARIES, name)]
        files = [os.path.join(folder, name) for name in names if convolutions or "_cnn_" not in name]
        before = time.monotonic()
        status, out, err = self._managers["fenced"].tessera(
            "fence", "--summary", "--json", "--no-compare", "--ptxas", ptxas, *files, timeout_s=AHEAD_TIMEOUT_S
        )
        lines = [json.loads(line) for line in out.splitlines()]
        totals = lines[-1]["totals"] if lines and "totals" in lines[-1] else {}
        refused = [f"{one['part']} 0x{one['offset']:x}: {one['refused']}" for one in lines if one.get("ptxBytes") and "refused" in one]
        self._record.add("ahead", status=status, seconds=time.monotonic() - before, totals=totals, refused=refused[:20])
        if not totals or refused:
            self._record.problem("ahead", f"status {status}, {len(refused)} images refused: {(refused or [err[-300:]])[0]}")

    def start_twice(self):
        """A fenced program's start, and again: with what was compiled then, or ahead."""
        for turn in ("first", "second"):
            with contextlib.ExitStack() as stack:
                child = self._start(stack, "lenet", "fenced", f"start-{turn}")
                ready = json.loads(child.read(READY_TIMEOUT_S))
            self._record.add("start", turn=turn, **ready)

    def samples(self, name):
        """The same calls of a library in all ways; their outputs."""
        for way in ALONE_WAYS:
            place = self._place(way)
            environment = {**place.environment, "LD_LIBRARY_PATH": os.path.join(self._home, "lib")}
            command = place.wrap([os.path.join(self._home, "samples"), name], f"samples-{way}-{name}")
            status, out, err = run_bounded(command, environment, READY_TIMEOUT_S)
            self._record.add("samples", library=name, way=way, status=status, out=out, err=err[-2000:])

    def alone(self, case):
        """One program of each way stays; they are measured in turn, each idle while another runs."""
        with contextlib.ExitStack() as stack:
            children = {}
            for way in ALONE_WAYS:
                try:
                    child = self._start(stack, case, way, f"{way}-{case}")
                    ready = json.loads(child.read(READY_TIMEOUT_S))
                    self._record.add("ready", case=case, way=way, **ready)
                    children[way] = child
                except Exception as failed:  # the other ways are still worth measuring
                    self._record.problem(f"{case} {way}", f"{type(failed).__name__}: {failed}")
            counts = _counts(next(iter(children.values())))
            for child in list(children.values())[1:]:
                _counts(child)  # the same iterations for all, so that losses stay comparable
            ways = list(children)
            for repeat in range(REPEATS):
                for way in ways[repeat % len(ways) :] + ways[: repeat % len(ways)]:
                    for kind in KINDS:
                        answer = _ask([children[way]], kind, counts[kind])[0]
                        self._record.add("window", case=case, way=way, repeat=repeat, **answer)

    def crowd(self, name):
        """Several of one program at once: all get their iterations at the same moment; the last answer ends the window."""
        case, count = CROWDS[name]
        with contextlib.ExitStack() as stack:
            mps = stack.enter_context(Mps(self._setting.directory))
            groups = {}
            for way in CROWD_WAYS:
                group = [self._start(stack, case, way, f"{way}-{name}-{i}", mps) for i in range(count)]
                try:
                    for child in group:
                        child.read(READY_TIMEOUT_S)
                    groups[way] = group
                except Exception as failed:  # the other ways are still worth measuring
                    self._record.problem(f"{name} {way}", f"{type(failed).__name__}: {failed}")
            iterations = _counts(next(iter(groups.values()))[0])
            ways = list(groups)
            for repeat in range(REPEATS):
                for way in ways[repeat % len(ways) :] + ways[: repeat % len(ways)]:
                    for kind in KINDS:
                        answers = _ask(groups[way], kind, iterations[kind])
                        slowest = max(answer["ms"] for answer in answers)
                        self._record.add("crowd", crowd=name, way=way, what=kind, ms=slowest / iterations[kind])


def _assembler():
    """NVIDIA's assembler: named, on the PATH, or the one that Triton brings; None where there is none."""
    found = os.environ.get("TESSERA_GPU_PTXAS") or shutil.which("ptxas")
    if found is None and importlib.util.find_spec("triton") is not None:
        folder = os.path.dirname(importlib.util.find_spec("triton").origin)
        bundled = os.path.join(folder, "backends", "nvidia", "bin", "ptxas")
        found = bundled if os.access(bundled, os.X_OK) else None
    return found


def _ask(children, kind, iterations):
    """Asks all at once; their answers, in order."""
    for child in children:
        child.write(f"{kind} {iterations}")
    return [json.loads(child.read(ANSWER_TIMEOUT_S)) for child in children]


def _counts(child):
    """Iterations that take about a window."""
    return {
        kind: max(5, int(WINDOW_MS / max(0.01, _ask([child], kind, 20)[0]["ms"] / 20))) for kind in KINDS
    }


def _alone_rows(results):
    for case in CASES:
        for kind in KINDS:
            windows = {
                way: [one for one in results if one["kind"] == "window" and one["case"] == case
                      and one["way"] == way and one["what"] == kind]
                for way in ALONE_WAYS
            }  # fmt: skip
            if not any(windows.values()):
                continue
            each = {way: [one["ms"] / one["iterations"] for one in found] for way, found in windows.items()}
            losses = {way: [one["loss"] for one in found] for way, found in windows.items() if found}
            fenced = ratio(each["fenced"], each["native"])
            equal = len(losses) > 1 and len(set(map(tuple, losses.values()))) == 1
            yield (
                case, kind, *(summary(each[way])["median"] if each[way] else None for way in ALONE_WAYS),
                ratio(each["relay"], each["native"]), fenced, f"≤ {BOUND}: {verdict(fenced, BOUND, False)}", equal,
            )  # fmt: skip


def _sample_rows(results):
    for name in SAMPLES:
        ways = {one["way"]: one for one in results if one["kind"] == "samples" and one["library"] == name}
        if "native" in ways:
            right = ways["native"]
            yield (
                name, len(right["out"].splitlines()), right["status"] == 0,
                *(way in ways and ways[way]["status"] == 0 and ways[way]["out"] == right["out"] for way in ALONE_WAYS[1:]),
            )  # fmt: skip


def _crowd_rows(results):
    for crowd in CROWDS:
        for kind in KINDS:
            times = {
                way: [one["ms"] for one in results if one["kind"] == "crowd" and one["crowd"] == crowd
                      and one["way"] == way and one["what"] == kind]
                for way in CROWD_WAYS
            }  # fmt: skip
            if any(times.values()):
                medians = [statistics.median(times[way]) if times[way] else None for way in CROWD_WAYS]
                yield (crowd, kind, *medians, ratio(times["fenced"], times["mps"]), ratio(times["fenced"], times["time-slicing"]))


def tables(results):
    """Alone against native, and several at once against MPS and hardware time-slicing."""
    found = []
    alone, crowds = tuple(_alone_rows(results)), tuple(_crowd_rows(results))
    note = f"milliseconds an iteration, medians of {REPEATS} windows of about {WINDOW_MS:.0f} ms, in turn"
    if alone:
        columns = ("case", "what", "native", "relay", "fenced", "relay/native", "fenced/native", "asked", "losses equal")
        found.append(Table("Caffe with closed libraries, alone", columns, alone, (note,)))
    if crowds:
        columns = ("case", "what", "time-slicing", "MPS", "fenced", "fenced/MPS", "fenced/time-slicing")
        found.append(Table("Caffe with closed libraries, several at once", columns, crowds, (note,)))
    ahead = tuple(
        (
            one["totals"].get("images"), one["totals"].get("kernels"), one["totals"].get("ptxBytes", 0) / 1e6,
            len(one["refused"]), one["seconds"], one["totals"].get("bytesPerSecondAndCore", 0) / 1e6,
        )
        for one in results if one["kind"] == "ahead"
    )  # fmt: skip
    if ahead:
        columns = ("images", "kernels", "MB of PTX", "refused", "s, compiled", "MB/s and core, fenced")
        found.append(Table("Fenced and compiled ahead", columns, ahead))
    samples = tuple(_sample_rows(results))
    if samples:
        columns = ("library", "results", "native right", "relay equal", "fenced equal")
        found.append(Table("Sample calls of closed libraries", columns, samples, ("all bits of all results",)))
    starts = tuple((one["turn"], one["start_ms"]) for one in results if one["kind"] == "start")
    if starts:
        found.append(Table("Fenced start of LeNet", ("start", "ms"), starts))
    return found
