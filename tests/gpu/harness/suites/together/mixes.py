"""Mixed programs at once, each too small for the GPU: fenced in one context, against MPS and hardware time-slicing.

The programs are those of programs/mix. The work of each is counted once, natively and alone, and stays the same in all
ways, so its checksum must stay the same too.
"""

import contextlib
import json
import math
import os
import statistics
import time

from harness.bench import Placement, native, under_mps
from harness.child import Child, ChildFailed
from harness.figures import number, ratio, verdict
from harness.mps import Mps
from harness.table import Table
from harness.tessera import Manager

#: A crowd of n is the first n.
PROGRAMS = ("stencil", "training", "conjugate", "bodies", "histogram", "options", "clusters", "sorting")
CROWDS = {"2 programs": 2, "4 programs": 4, "8 programs": 8}
ALONE = "alone"
WAYS = ("time-slicing", "mps", "fenced")
ROUNDS = 2
#: How long a program's work takes natively and alone.
WORK_S = 1.3
#: Shorter measurements of that are not trusted.
PROBE_S = 0.1
READY_TIMEOUT_S = 90.0
ANSWER_TIMEOUT_S = 60.0
#: Largest total time, from the issue that asked for it.
BOUNDS = {"mps": 1.03, "time-slicing": 0.75}
#: Options of `tessera run`; TESSERA_GPU_FENCED names others.
FENCED = "--fence mask --fence-alone"


def run(setting, record):
    """Starts every program once in each way; then each alone, then the crowds, the ways in turn."""
    program = setting.installation.path("programs", "mix")
    if not os.access(program, os.X_OK):
        record.problem("mixes", f"there is no {program}: the machine that built the kit had no nvcc")
        return
    chosen = setting.chosen((ALONE, *CROWDS))
    crowds = [name for name in CROWDS if name in chosen]
    count = max((CROWDS[name] for name in crowds), default=len(PROGRAMS))
    with contextlib.ExitStack() as stack:
        manager = stack.enter_context(Manager(setting.installation, setting.directory))
        places = {"time-slicing": native(), "fenced": _fenced(manager)}
        try:
            places["mps"] = under_mps(stack.enter_context(Mps(setting.directory)))
        except Exception as absent:  # no MPS costs the comparison with it, not the rest
            record.problem("mps", f"{type(absent).__name__}: {absent}")
        stage = _Stage(record)
        record.attempt("start", lambda: stage.start(stack, setting.directory, program, places, PROGRAMS[:count]), 40)
        record.attempt("count", stage.count, 2 * WORK_S * count)
        if ALONE in chosen:
            record.attempt(ALONE, stage.alone_fenced, 2 * WORK_S * count)
        for name in crowds:
            for turn in range(ROUNDS):
                record.attempt(f"{name}, round {turn + 1}", lambda: stage.crowd(name, turn), 3 + 2 * WORK_S * CROWDS[name])
        record.add("executors", executors=manager.control.status().get("executors", []))


def _fenced(manager):
    words = os.environ.get("TESSERA_GPU_FENCED", FENCED).split()
    return Placement(
        "fenced",
        manager.environment,
        lambda command, name: manager.wrap(command, name=name, share="space", options=words),
    )


class _Stage:
    """The programs that run, by way and in their order, and the iterations that each of them gets."""

    def __init__(self, record):
        self._record = record
        self._groups = {}
        self._iterations = {}

    def start(self, stack, logs, program, places, names):
        """A program that does not start leaves the larger crowds of its way out, and the others in."""
        begun = {}
        for way, place in places.items():
            begun[way] = []
            for name in names:
                label = f"{way}-{name}"
                child = Child(label, place.wrap([program, name], label), place.environment, os.path.join(logs, f"{label}.log"))
                stack.callback(child.close)
                begun[way].append(child)
        for way, children in begun.items():
            self._groups[way] = []
            try:
                for name, child in zip(names, children):
                    ready = json.loads(child.read(READY_TIMEOUT_S))
                    self._record.add("ready", way=way, program=name, ms=ready["start_ms"])
                    self._groups[way].append(child)
            except Exception as failed:  # the other ways are still worth measuring
                self._record.problem(f"start {way}", f"{type(failed).__name__}: {failed}")

    def count(self):
        """Iterations that take WORK_S, and what comes out of them natively and alone."""
        for name, child in zip(PROGRAMS, self._groups["time-slicing"]):
            self._iterations[name] = counted(child, WORK_S)
            self._alone("time-slicing", name, child)

    def alone_fenced(self):
        """The same, fenced: what fence and relay cost each program."""
        for name, child in zip(PROGRAMS, self._groups["fenced"]):
            self._alone("fenced", name, child)

    def _alone(self, way, name, child):
        answer = ask([child], [self._iterations[name]])[0]
        self._record.add("alone", way=way, program=name, **answer)

    def crowd(self, name, turn):
        """All get their work at once; the last answer ends it."""
        ways = [way for way in WAYS if len(self._groups.get(way, ())) >= CROWDS[name]]
        if not ways:
            raise ChildFailed(f"in no way are there {CROWDS[name]} programs")
        for way in ways[turn % len(ways) :] + ways[: turn % len(ways)]:
            children = self._groups[way][: CROWDS[name]]
            names = PROGRAMS[: CROWDS[name]]
            try:
                begun = time.monotonic()
                answers = ask(children, [self._iterations[one] for one in names])
                seconds = time.monotonic() - begun
            except Exception as failed:  # what they would answer now belongs to this question: the way ends here
                self._record.problem(f"{name} {way}", f"{type(failed).__name__}: {failed}")
                del self._groups[way]
                continue
            self._record.add("crowd", crowd=name, way=way, seconds=seconds, programs=dict(zip(names, answers)))


def counted(child, seconds):
    """The number of iterations with which a program that runs takes this long."""
    iterations, ms = 1, 0.0
    while ms < PROBE_S * 1000:
        iterations *= 1 if ms == 0 else min(16, math.ceil(1.5 * PROBE_S * 1000 / ms))
        ms = ask([child], [iterations])[0]["ms"]
    return max(1, round(iterations * seconds * 1000 / ms))


def ask(children, iterations):
    """Gives each its work, then waits for all; their answers, in order."""
    for child, count in zip(children, iterations):
        child.write(f"go {count}")
    return [json.loads(child.read(ANSWER_TIMEOUT_S)) for child in children]


def _crowds(results, name, way):
    return [one for one in results if one["kind"] == "crowd" and one["crowd"] == name and one["way"] == way]


def _alone(results, way):
    return {one["program"]: one for one in results if one["kind"] == "alone" and one["way"] == way}


def _total_row(results, name, right):
    found = {way: _crowds(results, name, way) for way in WAYS}
    seconds = {way: [one["seconds"] for one in runs] for way, runs in found.items()}
    ratios = {way: ratio(seconds["fenced"], seconds[way]) for way in BOUNDS}
    equal = all(
        program in right and answer["checksum"] == right[program]["checksum"]
        for runs in found.values() for one in runs for program, answer in one["programs"].items()
    )  # fmt: skip
    members = [program for program in PROGRAMS[: CROWDS[name]] if program in right]
    return (
        name, sum(right[program]["ms"] for program in members) / 1000 if members else None,
        *(statistics.median(seconds[way]) if seconds[way] else None for way in WAYS),
        *(cell for way in BOUNDS for cell in (ratios[way], f"≤ {BOUNDS[way]}: {verdict(ratios[way], BOUNDS[way], False)}")),
        equal,
    )  # fmt: skip


def _program_rows(results, crowd, right):
    fenced = _alone(results, "fenced")
    for program in (name for name in PROGRAMS if name in right):
        alone = right[program]
        own = fenced.get(program)
        cells = []
        for way in WAYS:
            times = [one["programs"][program]["ms"] for one in _crowds(results, crowd, way) if program in one["programs"]]
            cells.append(statistics.median(times) if times else None)
        yield (
            program, alone["iterations"], alone["ms"], own["ms"] if own else None, own["ms"] / alone["ms"] if own else None,
            own["checksum"] == alone["checksum"] if own else None, *cells,
        )  # fmt: skip


def _fence_notes(results):
    clients = [
        client
        for one in results if one["kind"] == "executors"
        for executor in one["executors"] for client in executor.get("clients", ())
    ]  # fmt: skip
    if not clients:
        return ()
    kinds = sorted({str(client.get("fence")) for client in clients})
    unfenced = sum(client.get("unfenced", 0) for client in clients)
    violations = sum(client.get("violations", 0) for client in clients)
    launches, heap = (sum(client.get(name, 0) for client in clients) for name in ("launches", "heapAllocatedBytes"))
    return (
        f"{len(clients)} clients of the executor, fences: {', '.join(kinds)}; run unfenced: {unfenced}; violations: {violations}",
        f"launches: {launches}",
        f"allocated by the clients' threads on the executor's heap: {heap / 2**20:.0f} MiB",
    )


def tables(results):
    """Total times with their ratios, and each program's own."""
    right = _alone(results, "time-slicing")
    found = []
    measured = [name for name in CROWDS if any(_crowds(results, name, way) for way in WAYS)]
    if measured:
        note = f"seconds from the common start to the last end, medians of {ROUNDS} rounds in turn; one after the other: sum of all alone"
        columns = (
            "at once", "one after the other", "time-slicing", "MPS", "fenced", "fenced/MPS", "asked", "fenced/time-slicing", "asked",
            "results equal",
        )  # fmt: skip
        rows = tuple(_total_row(results, name, right) for name in measured)
        found.append(Table("Mixed programs at once, total time", columns, rows, (note, *_fence_notes(results))))
    crowd = measured[-1] if measured else ""
    rows = tuple(_program_rows(results, crowd, right))
    if rows:
        columns = (
            "program", "iterations", "alone, ms", "alone, fenced", "fenced/native", "results equal", "time-slicing", "MPS", "fenced",
        )  # fmt: skip
        note = f"the last three: milliseconds among {crowd}; {number(WORK_S)} s of work each" if crowd else f"{number(WORK_S)} s of work each"
        found.append(Table("Mixed programs, each", columns, rows, (note,)))
    return found
