"""Trainings that each nearly fill the device, at once: total time against one after the other, and where it went.

Used by the suite ``oversub``. ``steps`` of a training say when each was done, so what is not computing can be told apart:
the time in which nobody's steps were done, and steps that took longer than alone.
"""

import concurrent.futures
import os
import statistics
import time

from harness.bench import Bench, measure, native, under_tessera
from harness.control import client_of, device_in_use
from harness.figures import verdict
from harness.table import Table
from harness.tessera import Manager
from harness.timeline import moves, read

CAPACITY_GIB = 16
#: Work of each program, as seconds that it takes alone.
WORK_S = 20.0
RATE_S = 2.0
PHASE_S = 4.0
QUANTUM_NS = 1_000_000_000
#: Steps further apart than this, and than this many usual steps, have a gap between them.
GAP_S = 0.05
GAP_STEPS = 5
#: What a way takes beyond its trainings: starting the programs, filling their memory, moving it.
START_S = 16.0

#: Tenants, part of the time in which the host works alone, capacity, and what is asked of the default quantum and of 1 s.
TRAININGS = {
    "two busy": (2, 0.0, CAPACITY_GIB, 1.05, 1.25),
    "three busy": (3, 0.0, CAPACITY_GIB, 1.05, 1.25),
    "two busy of 8 GiB": (2, 0.0, 8, 1.05, 1.25),
    "three busy of 8 GiB": (3, 0.0, 8, 1.05, 1.25),
    "two half-busy": (2, 0.5, CAPACITY_GIB, 0.80, None),
    "three half-busy": (3, 0.5, CAPACITY_GIB, 0.80, None),
}
#: Way: memory plan, quantum (None: the manager's choice). In this order, as far as the time reaches.
WAYS = {"swap": ("swap", None), "swap, 1 s turns": ("swap", QUANTUM_NS), "managed": ("managed", None)}
FREE = "native, all at once"


def manager_of(setting, capacity_gib=CAPACITY_GIB):
    """A manager for a device that counts as so small; ``None``: as large as it is."""
    manager = Manager(setting.installation, setting.directory)
    if capacity_gib:
        manager.environment["TESSERA_CAPACITY"] = f"{capacity_gib}GiB"
    return manager


def wide(bench, place, share, host_share, name, capacity_gib=CAPACITY_GIB, more=()):
    """A training whose memory is that share of the capacity, and whose host works alone for that share of the time."""
    environment = {
        "WIDE_GIB": str(capacity_gib * share),
        "WIDE_HOST_SHARE": str(host_share),
        "WIDE_PHASE_S": str(PHASE_S),
        **dict(more),
    }
    return bench.start(place, "wide", name=name, environment=environment)


def device(manager):
    """What the manager says of the device in use."""
    return device_in_use(manager.control.status()) or {}


def residency(manager, pid):
    """What the manager says of a process's memory."""
    client = client_of(manager.control.status(), pid) or {}
    return (client.get("devices") or [{}])[0].get("residency", {})


def run(setting, record, case):
    """A case of TRAININGS: one after the other, then each way, as far as there is time."""
    tenants, host_share, capacity_gib, *_ = TRAININGS[case]
    with Bench(setting.workloads, setting.directory) as bench:
        alone = wide(bench, native(), 0.96, host_share, f"{case}-alone", capacity_gib)
        alone.ready()
        probe = measure([alone], RATE_S if not host_share else 4 * PHASE_S)[0][0]
        count = max(1, round(WORK_S * probe))
        seconds, answer = _together([alone], [count], 10 * WORK_S)
    gaps, step_s = _gaps(answer[0])
    # In seconds a phase would be over for a program that waits for the device in it, and the host's phases be more than alone.
    phase = {"WIDE_PHASE_STEPS": str(max(1, round(PHASE_S / step_s)))}
    record.add("serial", case=case, seconds=tenants * seconds, losses=answer[0]["losses"][-1:], gaps=gaps, step_s=step_s)
    needs_s = tenants * WORK_S * 1.3 + START_S
    for way, (plan, quantum_ns) in WAYS.items():
        record.attempt(f"{case} {way}", lambda: _way(setting, record, case, way, plan, quantum_ns, count, phase), needs_s)
    record.attempt(f"{case} {FREE}", lambda: _free(setting, record, case, count, phase), needs_s)


def _free(setting, record, case, count, phase):
    tenants, host_share, capacity_gib, *_ = TRAININGS[case]
    with Bench(setting.workloads, setting.directory) as bench:
        workers = [
            wide(bench, native(), 0.96, host_share, f"{case}-free-{i}", capacity_gib, phase) for i in range(tenants)
        ]
        for worker in workers:
            worker.ready()
        seconds, _ = _together(workers, [count] * tenants, 20 * WORK_S)
        record.add("training", case=case, way=FREE, seconds=seconds)


def _way(setting, record, case, way, plan, quantum_ns, count, phase):
    tenants, host_share, capacity_gib, *_ = TRAININGS[case]
    trace = os.path.join(setting.directory, f"{case}-{way}.trace".replace(" ", "-"))
    with manager_of(setting, capacity_gib) as manager, Bench(setting.workloads, setting.directory) as bench:
        place = under_tessera(manager, plan)
        more = {"TESSERA_MOVE_TRACE": trace, **phase}
        workers = [
            wide(bench, place, 0.96, host_share, f"{case}-{way}-{i}", capacity_gib, more) for i in range(tenants)
        ]
        for worker in workers:
            worker.ready()
        if quantum_ns:
            manager.control.quantum(quantum_ns)
        before = device(manager)
        seconds, answers = _together(workers, [count] * tenants, 40 * WORK_S)
        spent = [dict(zip(("gaps", "step_s"), _gaps(answer))) for answer in answers]
        begun_ns = min(answer["start_ns"] for answer in answers)
        record.add(
            "training",
            case=case,
            way=way,
            seconds=seconds,
            steps_end_s=(max(answer["end_ns"] for answer in answers) - begun_ns) / 1e9,
            handovers=device(manager).get("handovers", 0) - before.get("handovers", 0),
            quantum_ns=device(manager).get("quantumNs"),
            reason=device(manager).get("reason"),
            idle=_idle(answers),
            programs=spent,
            moves=[
                (move.events[0].pid, "out" if move.out else "in", (move.begin_ns - begun_ns) / 1e9,
                 (move.end_ns - move.begin_ns) / 1e9, move.bytes) for move in moves(read(trace))
            ],
            memory=[residency(manager, worker.pid) for worker in workers],
        )  # fmt: skip


def _together(workers, counts, timeout_s):
    """Steps of all at once; seconds from the first step to the last answer, and the answers."""
    with concurrent.futures.ThreadPoolExecutor(len(workers)) as pool:
        begun = time.monotonic()
        futures = [pool.submit(worker.steps, count, timeout_s) for worker, count in zip(workers, counts)]
        answers = [future.result() for future in futures]
        return time.monotonic() - begun, answers


def _done_ns(answer):
    now, done = answer["start_ns"], []
    for delta_us in answer["deltas_us"]:
        now += 1000 * delta_us
        done.append(now)
    return done


def _gaps(answer):
    """Where a program's steps were far apart: (seconds after its start, length) each; and its usual step."""
    step_s = statistics.median(answer["deltas_us"]) / 1e6
    least_s = max(GAP_S, GAP_STEPS * step_s)
    at_s, found = 0.0, []
    for delta_us in answer["deltas_us"]:
        if delta_us / 1e6 >= least_s:
            found.append((round(at_s, 3), round(delta_us / 1e6, 4)))
        at_s += delta_us / 1e6
    return found, step_s


def _idle(answers):
    """When nobody's steps were done: (seconds after the start, length) each."""
    begun_ns = min(answer["start_ns"] for answer in answers)
    all_done = sorted(ns for answer in answers for ns in _done_ns(answer))
    step_s = min(statistics.median(answer["deltas_us"]) / 1e6 for answer in answers)
    least_ns = 1e9 * max(GAP_S, GAP_STEPS * step_s)
    found, last = [], begun_ns
    for ns in all_done:
        if ns - last >= least_ns:
            found.append((round((last - begun_ns) / 1e9, 3), round((ns - last) / 1e9, 4)))
        last = ns
    return found


def tables(results):
    """Total times, and where they went."""
    return [table for table in (_totals(results), _spent(results)) if table is not None]


def _of(results, kind, **fields):
    return [one for one in results if one["kind"] == kind and all(one[k] == v for k, v in fields.items())]


def _totals(results):
    rows = []
    for case, (_, _, _, bound, bound_of_1_s) in TRAININGS.items():
        serial = _of(results, "serial", case=case)
        if not serial:
            continue
        base = serial[0]["seconds"]
        row = [case, base]
        for way in (FREE, *WAYS):
            found = _of(results, "training", case=case, way=way)
            row.append(found[0]["seconds"] / base if found else None)
        row.append(f"≤ {bound:g}: {verdict(row[3], bound, at_least=False)}" if row[3] is not None else None)
        one_s = row[4]
        asked = one_s is not None and bound_of_1_s
        row.append(f"≤ {bound_of_1_s:g}: {verdict(one_s, bound_of_1_s, at_least=False)}" if asked else None)
        rows.append(tuple(row))
    columns = ("trainings of 0.96 × capacity", "serial, s", FREE, *WAYS, "asked of swap", "of 1 s turns")
    note = f"total time over the time of native runs one after the other; capacity {CAPACITY_GIB} GiB unless another is given"
    return Table("Oversubscribed trainings", columns, tuple(rows), (note,)) if rows else None


def _turn_s(all_moves):
    """Median time from one program's memory coming in to the next one's; None where there are fewer than two such."""
    begun = sorted((at_s, pid) for pid, direction, at_s, _, _ in all_moves if direction == "in" and at_s >= 0)
    turns = [at_s for (at_s, pid), (_, before) in zip(begun[1:], begun) if pid != before]
    lengths = [later - earlier for earlier, later in zip(turns, turns[1:])]
    return statistics.median(lengths) if lengths else None


def _spent(results):
    rows = []
    for one in _of(results, "training"):
        serial = _of(results, "serial", case=one["case"])
        if "programs" not in one or not serial:
            continue
        slower = statistics.median(program["step_s"] for program in one["programs"]) / serial[0]["step_s"]
        incoming = [seconds for _, direction, at_s, seconds, _ in one["moves"] if direction == "in" and at_s >= 0]
        idle = [length for _, length in one["idle"]]
        rows.append((one["case"], one["way"], one["seconds"] - serial[0]["seconds"], one["handovers"], _turn_s(one["moves"]),
                     sum(incoming), sum(idle), len(idle), max(idle, default=0.0), slower,
                     one["seconds"] - one["steps_end_s"]))  # fmt: skip
    columns = ("trainings", "way", "longer than serial, s", "hand-overs", "median turn, s", "moves in, s", "nobody's steps, s",
               "times", "longest, s", "step against alone", "after the last step, s")  # fmt: skip
    note = f"nobody's steps: the time in which no step of any program was done for {1000 * GAP_S:g} ms or {GAP_STEPS} steps"
    return Table("Where the time went", columns, tuple(rows), (note,)) if rows else None
