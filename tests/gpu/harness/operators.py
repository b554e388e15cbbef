"""Runs workloads/operators/operators.py in one way, again behind every case that ends it, and compares what several runs gave."""

import dataclasses
import json
import math
import os
import sys
import time

from harness.child import Child, ChildFailed
from harness.closeness import difference

#: PyTorch and its databases come in 10 to 20 s; an executor may have to start first.
START_TIMEOUT_S = 120.0
CASE_TIMEOUT_S = 60.0
#: For sample inputs that are the same in every process: no order of sets, no libraries that choose by threads or alignment.
STEADY = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MKL_CBWR": "COMPATIBLE"}
#: A run that loses more contexts than this is broken altogether.
RESTARTS = 25
#: Where native runs differ among themselves, others may differ from them by this factor more.
UNSTEADY = 4.0


@dataclasses.dataclass
class Answers:
    """What one run gave.

    :param cases: answers by the cases' names, as the workload prints them, each with the ``file`` of its values
    :param total: how many cases were to be run
    :param start_ms: until the first case began, of every process that was started
    """

    cases: dict = dataclasses.field(default_factory=dict)
    total: int = 0
    start_ms: list = dataclasses.field(default_factory=list)

    def values(self, case, line):
        """The bytes of one line of a case."""
        with open(self.cases[case]["file"], "rb") as file:
            file.seek(line[4])
            return file.read(line[5])


class Run:
    """One run of all chosen cases.

    :param label: name of its logs and files
    :param words: the workload's options
    :param kernels: the run that it shares the kernels of PyTorch's own compiler with; its own where none is named
    """

    def __init__(self, setting, place, label, words, kernels=None):
        self._setting = setting
        self._place = place
        self._label = label
        self._words = words
        self._kernels = kernels or label
        self.answers = Answers()

    def run(self, budget_s):
        """Runs until all cases are done or the time is over; returns the answers."""
        end_s = time.monotonic() + budget_s
        first, started = 0, 0
        while started <= RESTARTS:
            first = self._process(first, started, end_s)
            started += 1
            if first is None:
                return self.answers
        raise ChildFailed(f"{self._label}: {RESTARTS} processes ended in the middle of a case, the last before number {first}")

    def _process(self, first, started, end_s):
        """One process; the place behind a case that ended it, or None where nothing is left to do."""
        setting, place = self._setting, self._place
        values = os.path.join(setting.directory, f"{self._label}-{started}.values")
        program = os.path.join(setting.workloads, "operators", "operators.py")
        command = [sys.executable, program, "--values", values, "--from", str(first), *self._words]
        # Kernels that PyTorch compiles itself: what one way compiled must not serve another.
        cache = os.path.join(setting.directory, f"kernels-{self._kernels}")
        os.makedirs(cache, exist_ok=True)
        environment = {**place.environment, **STEADY, "PYTORCH_KERNEL_CACHE_PATH": cache}
        log = os.path.join(setting.directory, f"{self._label}.log")
        child = Child(self._label, place.wrap(command, self._label), environment, log)
        begun_s, running, reached = time.monotonic(), None, first
        try:
            while True:
                left_s = end_s - time.monotonic()
                limit_s = START_TIMEOUT_S if self.answers.total == 0 or running is None else CASE_TIMEOUT_S
                try:
                    said = self._line(child, min(limit_s, left_s))
                except ChildFailed as failed:
                    if end_s - time.monotonic() <= 0.1:
                        return None  # the time is over: what was not reached is not in the answers
                    if running is None:
                        raise
                    self.answers.cases[running] = {"ended": str(failed)[:300], "file": values}
                    return self._behind(reached + 1)
                if "cases" in said:
                    self.answers.total = said["cases"]
                    self.answers.start_ms.append(round(1000 * (time.monotonic() - begun_s)))
                    if said["cases"] <= first:
                        return None
                elif "begin" in said:
                    running, reached = said["case"], said["begin"]
                elif "end" in said:
                    lost = "the context was lost" if said.get("lost") else None
                    self.answers.cases[said["case"]] = {**said, "file": values, "ended": lost}
                    if lost or said["end"] + 1 >= self.answers.total:
                        return self._behind(said["end"] + 1)
        finally:
            child.close(1.0)

    def _behind(self, place):
        return place if place < self.answers.total else None

    @staticmethod
    def _line(child, timeout_s):
        while True:
            line = child.read(timeout_s)
            # Libraries print too.
            if line.startswith(('{"cases"', '{"begin"', '{"end"')):
                return json.loads(line)


class Comparison:
    """Judges runs by native ones.

    :param natives: the answers of native runs, two or more; a case is stable where all of them that have it are equal
    """

    #: From best to worst. ``inexact``: within the bounds where native runs are equal to the last bit.
    VERDICTS = ("equal", "close", "inexact", "different", "error", "inputs", "missing")

    def __init__(self, natives):
        self._natives = natives

    def case(self, other, name):
        """A verdict on a case, and what there is to say of it."""
        natives = [run for run in self._natives if name in run.cases]
        if name not in other.cases:
            return "missing", "not reached"
        mine, theirs = other.cases[name], [run.cases[name] for run in natives]
        if mine["ended"]:
            known = any(one["ended"] for one in theirs)
            return ("equal" if known else "error"), mine["ended"]
        if any(one["ended"] for one in theirs):
            return "close", "ended natively: " + next(one["ended"] for one in theirs if one["ended"])
        if mine["inputs"] != theirs[0]["inputs"]:
            steady = all(one["inputs"] == theirs[0]["inputs"] for one in theirs)
            return ("inputs" if steady else "close"), "inputs differ" + ("" if steady else ", natively too")
        classes = _classes(mine)
        if all(classes != _classes(one) for one in theirs):
            return "error", f"{mine['errors'][:1]} instead of {theirs[0]['errors'][:1]}"
        return self._outputs(other, natives, name)

    def _outputs(self, other, natives, name):
        worst, what = "equal", ""
        mine = other.cases[name]["outputs"]
        theirs = [(run, run.cases[name]["outputs"]) for run in natives]
        shapes = _shapes(mine)
        if all(shapes != _shapes(outputs) for _, outputs in theirs):
            steady = all(_shapes(outputs) == _shapes(theirs[0][1]) for _, outputs in theirs)
            return ("different" if steady else "close"), "other shapes or types"
        theirs = [(run, outputs) for run, outputs in theirs if _shapes(outputs) == shapes]
        for sample, lines in enumerate(mine):
            for index, line in enumerate(lines):
                verdict, detail = self._line(other, name, line, [(run, outputs[sample][index]) for run, outputs in theirs])
                if self.VERDICTS.index(verdict) > self.VERDICTS.index(worst):
                    worst, what = verdict, {"sample": sample, "output": line[0], "type": line[1], "shape": line[2], **detail}
        return worst, what

    @staticmethod
    def _line(other, name, line, theirs):
        if any(line[3] == native[3] for _, native in theirs):
            return "equal", {}
        kind = line[1]
        first, base = theirs[0]
        raw = first.values(name, base)
        found = difference(kind, other.values(name, line), raw)
        steady = all(native[3] == base[3] for _, native in theirs)
        detail = {"differ": found.count, "at": found.place, "got": found.left, "native": found.right, "excess": _finite(found.excess)}
        if steady:
            return ("inexact" if found.close else "different"), detail
        own = max(difference(kind, run.values(name, native), raw).excess for run, native in theirs[1:] if native[3] != base[3])
        # Values that differ natively by more than the bounds, such as values never written, can be anything.
        allowed = math.inf if kind == "object" or own > 1.0 else max(1.0, UNSTEADY * own)
        return ("close" if found.excess <= allowed else "different"), {**detail, "natively": _finite(own)}


def _finite(number):
    return number if math.isfinite(number) else None


def _classes(answer):
    return [(number, kind) for number, kind, _ in answer["errors"]]


def _shapes(outputs):
    return [[line[:3] for line in lines] for lines in outputs]
