"""More memory than the GPU has: trainings that each fill it, notebooks, hand-overs, what plan swap costs while all fits.

``--capacity`` makes the GPU count as small, so that physical memory is never exceeded and native programs run beside as the
base. Each case stands alone and says how long it takes, so a short lease can run some of them with ``--only``.
"""

import concurrent.futures
import json
import math
import os
import random
import statistics
import sys
import threading
import time

from harness import trainings
from harness.bandwidth import pinned_bandwidth, ways_to_copy
from harness.bench import Bench, measure, native, under_tessera
from harness.child import run_bounded
from harness.figures import number, quantile, verdict
from harness.table import Table
from harness.timeline import PARTS, figures, moves, read, since
from harness.trainings import CAPACITY_GIB, QUANTUM_NS, device, manager_of, residency, wide

REPEATS = 3
WINDOW_S = 3.0
#: A process is by up to 0.35 % faster or slower than another of the same program, for as long as it lives (H200, 2026-11-22).
PROCESSES = 3
OVERHEAD_WINDOW_S = 1.6
NOTEBOOKS = 8
#: Think times of 1 to 60 s. Uniform: mean 30 s. Log-uniform, as in the simulation (unified-memory/README.md): median 8 s,
#: mean 14 s, so that cells meet twice as often.
THINK_S = (1.0, 60.0)
NOTEBOOKS_BY = {
    "notebooks": ("uniform", 190.0, lambda chance: chance.uniform(*THINK_S)),
    "notebooks log-uniform": ("log-uniform", 110.0, lambda chance: math.exp(chance.uniform(*map(math.log, THINK_S)))),
}
EVICT_EVERY_S = 0.2
EVICT_STEPS = 200
SEED = 20240229
HANDOVER_S = 30.0

#: Case: what it does, and the seconds that it needs on an H200; of trainings the first way, the others run if there is time.
CASES = {
    "two busy": 100,
    "three busy": 125,
    "two busy of 8 GiB": 100,
    "three busy of 8 GiB": 125,
    "two half-busy": 115,
    "three half-busy": 140,
    "two that fit": 40,
    "hand-over": 60,
    "overhead": 150,
    "notebooks": 220,
    "notebooks log-uniform": 140,
    "forced eager": 30,
    "forced graph": 30,
    "forced expandable segments": 30,
    "forced cudaMallocAsync": 30,
}
#: Forced eviction: workload options and environment.
VARIANTS = {
    "eager": ((), {}),
    "graph": (("--variant", "graph"), {}),
    "expandable segments": ((), {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
    "cudaMallocAsync": ((), {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}),
}

_ALLOCATIONS = """
import json, os, time
os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
import torch
torch.empty(1, device="cuda")
best = float("inf")
for _ in range(5):
    begun = time.monotonic()
    for index in range(400):
        kept = [torch.empty((1 << 20) << (index % 7), dtype=torch.uint8, device="cuda") for _ in range(2)]
        del kept
    torch.cuda.synchronize()
    best = min(best, time.monotonic() - begun)
print(json.dumps({"us": best / 800 * 1e6}))
"""


def run(setting, record):
    """Each case on a manager of its own."""
    work = {name: trainings.run for name in trainings.TRAININGS}
    work.update({"two that fit": _fit, "hand-over": _handover, "overhead": _overhead})
    work.update(dict.fromkeys(NOTEBOOKS_BY, _notebooks))
    work.update({f"forced {variant}": _forced for variant in VARIANTS})
    for case in setting.chosen(CASES):
        record.attempt(case, lambda: work[case](setting, record, case), CASES[case])


def _fit(setting, record, case):
    with manager_of(setting) as manager, Bench(setting.workloads, setting.directory) as bench:
        groups = {}
        for way, place in (("native", native()), ("swap", under_tessera(manager, "swap"))):
            groups[way] = [wide(bench, place, 0.4, 0.0, f"fit-{way}-{i}") for i in range(2)]
        for workers in groups.values():
            for worker in workers:
                worker.ready()
        for _ in range(REPEATS):
            for way, workers in groups.items():
                rates, _ = measure(workers, WINDOW_S)
                record.add("fit", way=way, rate=sum(rates))


def _handover(setting, record, case):
    bandwidth = pinned_bandwidth()
    record.add("ways to copy", ways=ways_to_copy(setting.installation))
    trace = os.path.join(setting.directory, "moves.trace")
    with manager_of(setting) as manager, Bench(setting.workloads, setting.directory) as bench:
        workers = [
            wide(bench, under_tessera(manager, "swap"), 0.96, 0.0, f"handover-{i}", more={"TESSERA_MOVE_TRACE": trace})
            for i in range(2)
        ]
        for worker in workers:
            worker.ready()
        manager.control.mode("on")
        manager.control.quantum(2 * QUANTUM_NS)
        # Hand-overs while both grew at their start had small parts, and many.
        begun_ns = time.monotonic_ns()
        taken = _handovers_during(manager, workers, lambda: measure(workers, HANDOVER_S))
        timeline = figures(since(moves(read(trace)), begun_ns))
        record.add(
            "handover",
            bandwidth=bandwidth,
            timeline=timeline,
            taken_ns=taken,
            device=device(manager),
            memory=[residency(manager, worker.pid) for worker in workers],
        )


def _handovers_during(manager, workers, work):
    """Durations of the hand-overs, from the former holder's answer to the grant's, that began while ``work`` went on."""
    ended = threading.Event()
    taken = []
    last = {worker.pid: residency(manager, worker.pid).get("handoverLastNs") for worker in workers}

    def watch():
        while not ended.wait(0.5):
            for worker in workers:
                ns = residency(manager, worker.pid).get("handoverLastNs")
                if ns and ns != last[worker.pid]:
                    taken.append(ns)
                    last[worker.pid] = ns

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        ended.set()
        watcher.join()
    # The first of each began before, or moved what had not left yet.
    return taken[len(workers) :]


def _overhead(setting, record, case):
    with manager_of(setting, capacity_gib=None) as manager, Bench(setting.workloads, setting.directory) as bench:
        for workload in ("gpt", "resnet"):
            workers = [
                (way, bench.start(place, workload, name=f"{way}-{workload}-{process}"))
                for process in range(PROCESSES)
                for way, place in (("native", native()), ("swap", under_tessera(manager, "swap")))
            ]
            for _, worker in workers:
                worker.ready()
            for repeat in range(REPEATS):
                for way, worker in workers if repeat % 2 else reversed(workers):
                    rates, _ = measure([worker], OVERHEAD_WINDOW_S)
                    record.add("overhead", workload=workload, way=way, process=worker.name, rate=rates[0])
        for way in ("native", "swap"):
            command = [sys.executable, "-c", _ALLOCATIONS]
            place = native() if way == "native" else under_tessera(manager, "swap")
            status, out, err = run_bounded(place.wrap(command, f"allocations-{way}"), place.environment, 60)
            if status != 0:
                raise RuntimeError(f"allocations {way}: {err[-300:]}")
            record.add("allocations", way=way, us=json.loads(out.splitlines()[-1])["us"])


def _notebooks(setting, record, case):
    thoughts, seconds, think = NOTEBOOKS_BY[case]
    with manager_of(setting) as manager, Bench(setting.workloads, setting.directory) as bench:
        place = under_tessera(manager, "swap")
        workers = [wide(bench, place, 0.4, 0.0, f"notebook-{i}") for i in range(NOTEBOOKS)]
        for worker in workers:
            worker.ready()
        begin = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(NOTEBOOKS) as pool:
            futures = [
                pool.submit(_cells, worker, random.Random(SEED + i), think, begin, begin + seconds)
                for i, worker in enumerate(workers)
            ]
            cells = [(*cell, i) for i, future in enumerate(futures) for cell in future.result()]
        record.add("notebooks", thoughts=thoughts, seed=SEED, cells=cells, memory=[residency(manager, w.pid) for w in workers])


def _cells(worker, chance, think, begin, end):
    """Thinks and runs cells; of each the seconds of its first step, and of a later one, and when it began."""
    cells = []
    while True:
        seconds = think(chance)
        if time.monotonic() + seconds >= end:
            return cells
        time.sleep(seconds)
        called = time.monotonic()
        first = worker.steps(1, 120.0)["seconds"]
        cells.append((first, worker.steps(20, 120.0)["seconds"] / 20, round(called - begin, 3)))


def _forced(setting, record, case):
    variant = case.removeprefix("forced ")
    options, environment = VARIANTS[variant]
    with manager_of(setting, capacity_gib=None) as manager, Bench(setting.workloads, setting.directory) as bench:
        answers = {}
        for way, place in (("native", native()), ("swap", under_tessera(manager, "swap"))):
            worker = bench.start(
                place, "gpt", "--deterministic", *options, name=f"evicted-{way}-{variant}", environment=environment
            )
            worker.ready()
            ended = threading.Event()
            evictions = [0]
            evictor = threading.Thread(target=_evict, args=(manager, worker.name, ended, evictions))
            if way == "swap":
                evictor.start()
            try:
                answers[way] = worker.steps(EVICT_STEPS, 150.0)
            finally:
                ended.set()
            if way == "swap":
                evictor.join()
                memory = residency(manager, worker.pid)
        equal = all(answers["native"][key] == answers["swap"][key] for key in ("losses", "state"))
        record.add("forced", variant=variant, equal=equal, evictions=evictions[0], memory=memory)


def _evict(manager, tenant, ended, evictions):
    while not ended.wait(EVICT_EVERY_S):
        manager.control.request("evict", tenant=tenant)
        evictions[0] += 1


def tables(results):
    """One table for each question that was asked."""
    made = [*trainings.tables(results), _fit_table(results), _handover_table(results), _timeline_table(results)]
    made.append(_ways_table(results))
    made.append(_overhead_table(results))
    made += [_notebooks_table(results), _forced_table(results)]
    return [table for table in made if table is not None]


def _of(results, kind, **fields):
    return [one for one in results if one["kind"] == kind and all(one[k] == v for k, v in fields.items())]


def _fit_table(results):
    rates = {way: [one["rate"] for one in _of(results, "fit", way=way)] for way in ("native", "swap")}
    if not all(rates.values()):
        return None
    medians = {way: statistics.median(values) for way, values in rates.items()}
    share = medians["swap"] / medians["native"]
    row = (medians["native"], medians["swap"], share, f"≥ 0.99: {verdict(share, 0.99)}")
    return Table("Two that fit", ("native at once, steps/s", "swap", "swap / native", "no loss"), (row,))


def _handover_table(results):
    rows = []
    for one in _of(results, "handover"):
        moved = one["timeline"].get("in", {}).get("bytes")
        both = one["bandwidth"]["both"]
        median_s = statistics.median(one["taken_ns"]) / 1e9 if one["taken_ns"] else None
        bound_s = 1.15 * moved / min(both) if moved else None
        met = verdict(median_s, bound_s, at_least=False) if median_s and moved else "not measured"
        alone = f"{one['bandwidth']['in'] / 1e9:.1f}, {one['bandwidth']['out'] / 1e9:.1f}"
        rows.append((moved / 2**30 if moved else None, alone, both[0] / 1e9, both[1] / 1e9, len(one["taken_ns"]), median_s,
                     bound_s, met))  # fmt: skip
    columns = ("moved each way, GiB", "pinned alone in, out, GB/s", "both at once: in", "out", "hand-overs", "median s",
               "asked, s", "")  # fmt: skip
    note = "asked: 1.15 times what was really moved over the slower direction, both measured at once in one process"
    return Table("Hand-over with memory", columns, tuple(rows), (note,)) if rows else None


def _ways_table(results):
    rows = tuple(
        (way["way"], way["total_ms"], way["in_gb_per_s"], way["out_gb_per_s"])
        for one in _of(results, "ways to copy")
        for way in one["ways"]
    )
    columns = ("2 GiB each way, one process", "until both are over, ms", "in, GB/s", "out, GB/s")
    return Table("Ways to copy", columns, rows) if rows else None


def _timeline_table(results):
    rows = []
    for one in _of(results, "handover"):
        for direction, row in one.get("timeline", {}).items():
            keys = ("moves", "gb_per_s", "ms", "first_copy_ms", "no_copy_ms", "one_copy_ms")
            pages = "; ".join(
                f"{part} {row[part]['median_us']:.0f}, {row[part]['p90_us']:.0f}, {row[part]['sum_ms_a_move']:.0f} ms"
                for part in PARTS
                if part in row
            )
            rows.append((direction, *(row[key] for key in keys), pages))
    columns = ("", "moves", "GB/s", "ms", "to the first copy, ms", "no copy under way, ms", "only one, ms",
               "page changes: median, 90th percentile in µs, sum of a move")  # fmt: skip
    return Table("Time lines of the moves", columns, tuple(rows)) if rows else None


def _overhead_table(results):
    rows, notes = [], []
    for workload in ("gpt", "resnet"):
        medians = {}
        for way in ("native", "swap"):
            found = _of(results, "overhead", workload=workload, way=way)
            medians[way] = statistics.median(one["rate"] for one in found) if found else None
            by_process = [
                statistics.median(one["rate"] for one in found if one["process"] == process)
                for process in {one["process"] for one in found}
            ]
            if by_process:
                notes.append(f"{workload}, {way}: {number(min(by_process))} to {number(max(by_process))} by process")
        if all(medians.values()):
            share = medians["swap"] / medians["native"]
            asked = f"≥ 0.995: {verdict(share, 0.995)}"
            rows.append((f"{workload}, steps/s", medians["native"], medians["swap"], share, asked))
    spent = {way: _of(results, "allocations", way=way) for way in ("native", "swap")}
    if all(spent.values()):
        times = {way: found[0]["us"] for way, found in spent.items()}
        share = times["swap"] / times["native"]
        rows.append(("allocation and free, µs", times["native"], times["swap"], share,
                     f"≤ 1.1: {verdict(share, 1.1, at_least=False)}"))  # fmt: skip
    columns = ("", "native", "swap", "swap / native", "asked")
    return Table("What the plan costs while it fits", columns, tuple(rows), tuple(notes)) if rows else None


def _notebooks_table(results):
    rows = []
    for one in _of(results, "notebooks"):
        waits = [max(0.0, first - step) for first, step, *_ in one["cells"]]
        rates = [memory.get("moveInBytesPerSecond", 0) for memory in one["memory"]]
        rate = statistics.median([rate for rate in rates if rate] or [0])
        move_s = CAPACITY_GIB * 0.4 * 2**30 / rate if rate else None
        late = quantile(waits, 0.95) if waits else None
        asked = f"≤ {1.2 * move_s:.2f} s: {verdict(late, 1.2 * move_s, at_least=False)}" if move_s and waits else None
        rows.append((one["thoughts"], len(waits), statistics.median(waits) if waits else None, late, move_s, asked))
    columns = ("think times", "cells", "wait of the first call, median s", "95th percentile", "time to move its memory, s", "asked")
    note = f"{NOTEBOOKS} notebooks of 0.4 × capacity; think times {THINK_S[0]:g}–{THINK_S[1]:g} s, cells of 21 steps"
    return Table("Notebooks", columns, tuple(rows), (note,)) if rows else None


def _forced_table(results):
    rows = tuple(
        (
            one["variant"],
            "yes" if one["equal"] else "no",
            one["evictions"],
            number(one["memory"].get("movesOut", 0)),
            one["memory"].get("moveFailures", 0),
        )
        for one in _of(results, "forced")
    )
    columns = ("gpt", "losses and state equal to native", "evictions asked", "moves out", "failed copies")
    note = f"one eviction each {1000 * EVICT_EVERY_S:g} ms during {EVICT_STEPS} steps"
    return Table("Forced eviction", columns, rows, (note,)) if rows else None
