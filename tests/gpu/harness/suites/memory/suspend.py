"""A tenant leaves the GPU and comes back: by moving its memory, and whole, by the driver's checkpoint; and natively, by that
alone.

One training of SIZE_GIB, idle when it is told to go. The memory left on the GPU is the vendor's tool's figure for all
processes, so nothing else may run there meanwhile. Beside another means a second such training on a GPU that counts as too
small for both, which steps before each round: the two have handed each other physical memory by then.
"""

import json
import os
import statistics
import time
import typing

from harness.bench import Bench, native, under_tessera
from harness.child import ChildFailed, run_bounded, wait_until
from harness.machine import used_mib
from harness.table import Table
from harness.timeline import read
from harness.trainings import manager_of, residency

SIZE_GIB = 8
ROUNDS = 3
STEPS = 20
GONE_TIMEOUT_S = 40.0
SETTLE_S = 0.5
#: Time for which an absent tenant stays away if nobody calls it.
AWAY_S = 2.0
CAPACITY_GIB = 10
CHECKPOINT = "natively by the driver alone"
BESIDE = "suspended beside another"
#: Behind the manager's back: what the driver does with memory that came from another process.
CHECKPOINT_BESIDE = "beside another by the driver alone"


class Way(typing.NamedTuple):
    """Who takes the tenant away, to which state that leads, and whether another has its turns on the same GPU."""

    suspend: bool = False
    state: str = ""
    by_driver: bool = False
    native: bool = False
    beside: bool = False


WAYS = {
    "evicted": Way(False, "steady"),
    "suspended": Way(True, "suspended"),
    BESIDE: Way(True, "suspended", beside=True),
    CHECKPOINT_BESIDE: Way(by_driver=True, beside=True),
    CHECKPOINT: Way(by_driver=True, native=True),
}
#: A program's start, filling its memory, and the rounds of a way.
WAY_S = 40


def run(setting, record):
    """Each way with a program of its own, which computes the same."""
    for name in setting.chosen(WAYS):
        record.attempt(name, lambda: _way(setting, record, name, WAYS[name]), WAY_S)


def _way(setting, record, name, way):
    capacity_gib = CAPACITY_GIB if way.beside else None
    trace = os.path.join(setting.directory, f"{name}.trace".replace(" ", "-"))
    with manager_of(setting, capacity_gib) as manager, Bench(setting.workloads, setting.directory) as bench:
        place = native() if way.native else under_tessera(manager, "swap")
        without_mib = used_mib()
        worker = _training(bench, place, "tenant", trace)
        other = _training(bench, place, "other", trace) if way.beside else None
        for number in range(ROUNDS):
            if other:
                other.steps(STEPS)
            worker.steps(STEPS)
            begun = time.monotonic()
            worker.steps(1)
            usual_call_s = time.monotonic() - begun
            time.sleep(SETTLE_S)
            before_mib = used_mib()
            taken_mib = _taken_mib(trace, worker.pid) if other else None
            begun = time.monotonic()
            how = None
            if way.by_driver:
                _checkpoint(setting, "suspend", worker.pid)
            else:
                how = _leave(manager, worker, way)
            left_s = time.monotonic() - begun
            after_mib = used_mib()
            if how:
                _stays_away(manager, worker)
            back_s = None
            if way.by_driver:
                begun = time.monotonic()
                _checkpoint(setting, "restore", worker.pid)
                back_s = time.monotonic() - begun
            # The worker's own clock begins after its first call, which is what a suspended process comes back by.
            begun = time.monotonic()
            answer = worker.steps(1)
            call_s = time.monotonic() - begun
            record.add("suspend", way=name, number=number, left_s=left_s, back_s=back_s, first_s=call_s, step_s=usual_call_s,
                       own_mib=before_mib - without_mib, left_mib=after_mib - without_mib, how=how, taken_mib=taken_mib,
                       state=answer["state"])  # fmt: skip


def _taken_mib(trace, pid):
    """What so far came to a process from the other one, as physical memory."""
    return sum(event.bytes for event in read(trace) if event.pid == pid and event.what == "taken") >> 20


def _training(bench, place, name, trace):
    environment = {"WIDE_GIB": str(SIZE_GIB), "WIDE_HOST_SHARE": "0", "TESSERA_MOVE_TRACE": trace}
    worker = bench.start(place, "wide", name=name, environment=environment)
    worker.ready()
    return worker


def _leave(manager, worker, way):
    manager.control.request("evict", tenant=worker.name, suspend=way.suspend)

    def gone():
        memory = residency(manager, worker.pid)
        return memory if memory.get("state") == way.state and (way.suspend or memory["residentBytes"] == 0) else None

    memory = wait_until(gone, GONE_TIMEOUT_S)
    if memory is None:
        raise ChildFailed(f"is not {way.state} after {GONE_TIMEOUT_S:.0f} s: {residency(manager, worker.pid)}")
    return memory.get("suspension")


def _stays_away(manager, worker):
    time.sleep(AWAY_S)
    state = residency(manager, worker.pid).get("state")
    if state != "suspended":
        raise ChildFailed(f"came back though nobody called it: {state} after {AWAY_S:g} s")


def _checkpoint(setting, action, pid):
    program = setting.installation.path("bin", "tessera-checkpoint")
    status, out, err = run_bounded([program, action, str(pid)], native().environment, GONE_TIMEOUT_S)
    if status != 0:
        raise ChildFailed(f"tessera-checkpoint {action} ended with {status}: {out.strip()} {err.strip()[-200:]}")
    json.loads(out)


def tables(results):
    """A row a way; whether all ways computed the same in every round."""
    found = [one for one in results if one["kind"] == "suspend"]
    if not found:
        return []
    states = {}
    for one in found:
        states.setdefault(one["number"], set()).add(one["state"])
    rows, notes = [], [f"medians of {ROUNDS} rounds of one training of {SIZE_GIB} GiB; an answer is one step and a digest of all memory, the first waits for that memory"]
    for way in WAYS:
        rounds = [one for one in found if one["way"] == way]
        if rounds:
            rows.append((way, *(_median(rounds, key) for key in ("own_mib", "left_mib", "left_s", "back_s", "first_s", "step_s"))))
            notes += [f"{way}, round {one['number'] + 1}: {one['how']}" for one in rounds if one["how"]]
            notes += [
                f"{way}, by round {one['number'] + 1}: {one['taken_mib']} MiB had come from the other"
                for one in rounds if one["taken_mib"] is not None
            ]  # fmt: skip
    equal = all(len(of) == 1 for of in states.values())
    notes.append(f"contents {'equal' if equal else 'NOT EQUAL'} in all ways, round by round")
    columns = ("way", "on the GPU, MiB", "left there, MiB", "until gone, s", "brought back, s", "first answer, s", "an earlier answer, s")
    return [Table("A tenant leaves the GPU", columns, tuple(rows), tuple(notes))]


def _median(rounds, key):
    values = [one[key] for one in rounds if one[key] is not None]
    return statistics.median(values) if values else None
