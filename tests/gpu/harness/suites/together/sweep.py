"""Mode ``on`` over quanta from 20 ms to 5 s, two GPU-bound programs."""

import statistics

from harness.bench import Bench, measure, measure_windows, native, under_tessera
from harness.figures import number
from harness.steps import unfairness
from harness.table import Table
from harness.tessera import Manager

QUANTA_MS = (20, 50, 100, 200, 500, 1000, 2000, 5000)
WORKLOAD = "gpt"
WINDOWS = 3
#: A window holds several turns of each program; of the longest quanta at least one each.
LEAST_WINDOW_S = 1.2


def run(setting, record):
    """One pair of processes, all quanta in order; the baseline alone before every second quantum."""
    chosen = [int(name) for name in setting.chosen([str(ms) for ms in QUANTA_MS])]
    with Manager(setting.installation, setting.directory) as manager, Bench(
        setting.workloads, setting.directory
    ) as bench:
        alone = bench.start(native(), WORKLOAD)
        workers = [bench.start(under_tessera(manager), WORKLOAD, name=f"sweep-{index}") for index in range(2)]
        record.attempt("start", lambda: [worker.ready() for worker in [alone, *workers]])
        manager.control.mode("on")
        for index, quantum_ms in enumerate(chosen):
            if index % 2 == 0:
                record.attempt("alone", lambda: record.add("alone", rate=measure([alone], 1.6)[0][0]))
            window_s = max(LEAST_WINDOW_S, 2 * quantum_ms / 1000)
            record.attempt(
                f"quantum {quantum_ms} ms",
                lambda: _quantum(record, manager, workers, quantum_ms, window_s),
                WINDOWS * window_s + 5,
            )


def _quantum(record, manager, workers, quantum_ms, window_s):
    manager.control.quantum(quantum_ms * 1_000_000)
    count = WINDOWS if window_s <= 4 else 2
    windows, whole, bins = measure_windows(workers, min(window_s, 1.0), window_s, count)
    record.add("quantum", quantum_ms=quantum_ms, window_s=window_s, windows=windows, whole=whole, bins=bins)


def tables(results):
    """Sum relative to alone and how equal the two were, per quantum."""
    alone = [one["rate"] for one in results if one["kind"] == "alone"]
    quanta = [one for one in results if one["kind"] == "quantum"]
    if not alone or not quanta:
        return []
    base = statistics.median(alone)
    rows = []
    for one in quanta:
        sums = [sum(rates) / base for rates in one["windows"]]
        rows.append(
            (
                f"{one['quantum_ms']} ms",
                " + ".join(number(statistics.median(column)) for column in zip(*one["windows"])),
                f"{statistics.median(sums):.3f}",
                f"{min(sums):.3f}–{max(sums):.3f}",
                f"{max(unfairness(*rates) for rates in one['windows']):.1%}",
                f"{len(sums)} × {one['window_s']:g} s",
            )
        )
    columns = ("quantum", "steps/s", "sum relative to alone", "lowest–highest", "largest unfairness", "windows")
    return [Table(f"Mode on, {WORKLOAD}+{WORKLOAD}, alone {number(base)} steps/s", columns, tuple(rows))]
