"""A tenant leaves the GPU and comes back: by moving its memory, and whole, by the driver's checkpoint; and natively, by that alone.

One training of SIZE_GIB, idle when it is told to go. What is left of it on the GPU is what the vendor's tool says of all
processes, so nothing else may run there meanwhile.
"""

import json
import statistics
import time

from harness.bench import Bench, native, under_tessera
from harness.child import ChildFailed, run_bounded, wait_until
from harness.machine import used_mib
from harness.table import Table
from harness.tessera import Manager
from harness.trainings import residency

SIZE_GIB = 8
ROUNDS = 3
STEPS = 20
GONE_TIMEOUT_S = 40.0
SETTLE_S = 0.5
#: Who has left stays away for so long if nobody calls it.
AWAY_S = 2.0
#: Way: whether the manager is told to suspend, and to what state that leads. The manager says how it did so.
WAYS = {"evicted": (False, "steady"), "suspended": (True, "suspended")}
CHECKPOINT = "natively by the driver alone"
#: A program's start, filling its memory, and the rounds of a way.
WAY_S = 40


def run(setting, record):
    """Each way with a program of its own, which computes the same."""
    for way in setting.chosen((*WAYS, CHECKPOINT)):
        record.attempt(way, lambda: _way(setting, record, way), WAY_S)


def _way(setting, record, way):
    environment = {"WIDE_GIB": str(SIZE_GIB), "WIDE_HOST_SHARE": "0"}
    with Manager(setting.installation, setting.directory) as manager, Bench(setting.workloads, setting.directory) as bench:
        place = native() if way == CHECKPOINT else under_tessera(manager, "swap")
        without_mib = used_mib()
        worker = bench.start(place, "wide", name="tenant", environment=environment)
        worker.ready()
        for number in range(ROUNDS):
            worker.steps(STEPS)
            begun = time.monotonic()
            worker.steps(1)
            usual_call_s = time.monotonic() - begun
            time.sleep(SETTLE_S)
            before_mib = used_mib()
            begun = time.monotonic()
            how = None
            if way == CHECKPOINT:
                _checkpoint(setting, "suspend", worker.pid)
            else:
                how = _leave(manager, worker, *WAYS[way])
            left_s = time.monotonic() - begun
            after_mib = used_mib()
            if how:
                _stays_away(manager, worker)
            back_s = None
            if way == CHECKPOINT:
                begun = time.monotonic()
                _checkpoint(setting, "restore", worker.pid)
                back_s = time.monotonic() - begun
            # The worker's own clock begins after its first call, which is what a suspended process comes back by.
            begun = time.monotonic()
            answer = worker.steps(1)
            call_s = time.monotonic() - begun
            record.add("suspend", way=way, number=number, left_s=left_s, back_s=back_s, first_s=call_s, step_s=usual_call_s,
                       own_mib=before_mib - without_mib, left_mib=after_mib - without_mib, how=how, state=answer["state"])  # fmt: skip


def _leave(manager, worker, suspend, state):
    manager.control.request("evict", tenant=worker.name, suspend=suspend)

    def gone():
        memory = residency(manager, worker.pid)
        return memory if memory.get("state") == state and (suspend or memory["residentBytes"] == 0) else None

    memory = wait_until(gone, GONE_TIMEOUT_S)
    if memory is None:
        raise ChildFailed(f"is not {state} after {GONE_TIMEOUT_S:.0f} s: {residency(manager, worker.pid)}")
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
    for way in (*WAYS, CHECKPOINT):
        rounds = [one for one in found if one["way"] == way]
        if rounds:
            rows.append((way, *(_median(rounds, key) for key in ("own_mib", "left_mib", "left_s", "back_s", "first_s", "step_s"))))
            notes += [f"{way}, round {one['number'] + 1}: {one['how']}" for one in rounds if one["how"]]
    equal = all(len(of) == 1 for of in states.values())
    notes.append(f"contents {'equal' if equal else 'NOT EQUAL'} in all ways, round by round")
    columns = ("way", "on the GPU, MiB", "left there, MiB", "until gone, s", "brought back, s", "first answer, s", "an earlier answer, s")
    return [Table("A tenant leaves the GPU", columns, tuple(rows), tuple(notes))]


def _median(rounds, key):
    values = [one[key] for one in rounds if one[key] is not None]
    return statistics.median(values) if values else None
