"""Two equal tenants over windows of one second."""

import statistics

from harness.bench import Bench, measure_windows, under_tessera
from harness.control import device_in_use
from harness.figures import quantile, verdict
from harness.steps import unfairness
from harness.table import Table
from harness.tessera import Manager

WORKLOAD = "gpt"
WINDOW_S = 1.0
WINDOWS = 15
#: Case: mode, quantum in ns or None for the manager's own, settling time in seconds.
CASES = {"auto": ("auto", None, 10.0), "on": ("on", None, 2.0), "on-50ms": ("on", 50_000_000, 2.0)}
#: From the issue: within 3 %.
BOUND = 0.03


def run(setting, record):
    """One pair of processes under each case. The case with a quantum of its own comes last: it stays set."""
    with Manager(setting.installation, setting.directory) as manager, Bench(
        setting.workloads, setting.directory
    ) as bench:
        workers = [bench.start(under_tessera(manager), WORKLOAD, name=f"fairness-{index}") for index in range(2)]
        record.attempt("start", lambda: [worker.ready() for worker in workers])
        for case in setting.chosen(CASES):
            record.attempt(case, lambda: _case(record, manager, workers, case), WINDOWS + CASES[case][2] + 5)


def _case(record, manager, workers, case):
    mode, quantum_ns, settle_s = CASES[case]
    manager.control.mode(mode)
    if quantum_ns:
        manager.control.quantum(quantum_ns)
    windows, _, bins = measure_windows(workers, settle_s, WINDOW_S, WINDOWS)
    device = device_in_use(manager.control.status()) or {}
    record.add(
        "fairness",
        case=case,
        windows=windows,
        bins=bins,
        effective=device.get("effective"),
        quantum_ns=device.get("quantumNs"),
    )


def tables(results):
    """Largest, typical and median distance from equal work."""
    rows = []
    for one in results:
        if one["kind"] != "fairness" or not one["windows"]:
            continue
        values = [unfairness(*rates) for rates in one["windows"]]
        rows.append(
            (
                one["case"],
                one["effective"],
                f"{(one['quantum_ns'] or 0) / 1e6:g} ms",
                f"{statistics.median(values):.2%}",
                f"{quantile(values, 0.9):.2%}",
                f"{max(values):.2%}",
                len(values),
                f"≤ {BOUND:.0%}: {verdict(max(values), BOUND, at_least=False)}",
            )
        )
    columns = ("mode", "effective", "quantum", "median", "90th percentile", "largest", "windows", "asked")
    notes = (f"{WORKLOAD}+{WORKLOAD}, windows of {WINDOW_S:g} s; distance from equal work: |a − b| / (a + b)",)
    return [Table("Fairness of two equal tenants", columns, tuple(rows), notes)] if rows else []
