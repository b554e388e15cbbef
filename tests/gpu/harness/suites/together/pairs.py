"""Two programs at once: hardware time-slicing, MPS, and Tessera's modes, against each program alone."""

import contextlib
import statistics

from harness.bench import Bench, measure, measure_windows, native, under_mps, under_tessera
from harness.control import device_in_use
from harness.figures import number, summary
from harness.mps import Mps
from harness.table import Table
from harness.tessera import Manager

PAIRS = {
    "gpt+gpt": ("gpt", "gpt"),
    "mlp+mlp": ("mlp", "mlp"),
    "gpt+mlp": ("gpt", "mlp"),
    "gpt+resnet": ("gpt", "resnet"),
}
REPEATS = 5
ALONE_S = 1.6
WINDOW_S = 3.0
#: The automatic mode is given this long to settle; the figure over the whole run, settling included, stands beside.
AUTO_SETTLE_S = 10.0
AUTO_WINDOWS = 5
WAYS = ("time-slicing", "mps", "off", "on", "auto")


def run(setting, record):
    """One pair after the other; each starts all its processes once and measures them in turn."""
    with contextlib.ExitStack() as stack:
        manager = stack.enter_context(Manager(setting.installation, setting.directory))
        for pair in setting.chosen(PAIRS):
            record.attempt(pair, lambda: _pair(setting, record, manager, pair), 100)


def _pair(setting, record, manager, pair):
    with contextlib.ExitStack() as stack:
        places = {"native": native(), "tessera": under_tessera(manager)}
        try:
            places["mps"] = under_mps(stack.enter_context(Mps(setting.directory)))
        except Exception as absent:  # no MPS costs the comparison with it, not the pair
            record.problem(f"{pair} mps", f"{type(absent).__name__}: {absent}")
        # Entered after MPS, left before it: its clients end first.
        bench = stack.enter_context(Bench(setting.workloads, setting.directory))
        groups = {
            key: [
                bench.start(place, workload, name=f"{key}-{pair}-{index}") for index, workload in enumerate(PAIRS[pair])
            ]
            for key, place in places.items()
        }
        for key in list(groups):
            _ready(record, pair, key, groups)
        for repeat in range(REPEATS):
            record.attempt(f"{pair} repeat {repeat + 1}", lambda: _repeat(record, manager, pair, groups, repeat))
        if "tessera" in groups:
            record.attempt(f"{pair} auto", lambda: _auto(record, manager, pair, groups["tessera"]))


def _ready(record, pair, key, groups):
    try:
        for worker in groups[key]:
            worker.ready()
    except Exception as failed:  # the other ways are still worth measuring
        record.problem(f"{pair} {key}", f"{type(failed).__name__}: {failed}")
        del groups[key]


def _repeat(record, manager, pair, groups, repeat):
    first, second = groups["native"]
    # Equal workloads have equal baselines: they take turns in giving it.
    chosen = (
        [(0, first), (1, second)] if PAIRS[pair][0] != PAIRS[pair][1] else [(repeat % 2, (first, second)[repeat % 2])]
    )
    for index, worker in chosen:
        rates, _ = measure([worker], ALONE_S)
        record.add("alone", pair=pair, workload=PAIRS[pair][index], rate=rates[0])
    ways = [("time-slicing", groups["native"])]
    if "mps" in groups:
        ways.append(("mps", groups["mps"]))
    if "tessera" in groups:
        ways += [("off", groups["tessera"]), ("on", groups["tessera"])]
    for way, workers in ways[repeat % len(ways) :] + ways[: repeat % len(ways)]:
        if way in ("off", "on"):
            manager.control.mode(way)
        rates, bins = measure(workers, WINDOW_S)
        record.add("window", pair=pair, way=way, rates=rates, bins=bins)


def _auto(record, manager, pair, workers):
    decisions = []

    def watch():
        device = device_in_use(manager.control.status())
        if device and (not decisions or decisions[-1]["effective"] != device["effective"]):
            decisions.append({key: device.get(key) for key in ("effective", "reason", "quantumNs")})

    manager.control.mode("auto")
    windows, whole, bins = measure_windows(workers, AUTO_SETTLE_S, WINDOW_S, AUTO_WINDOWS, watch)
    for rates in windows:
        record.add("window", pair=pair, way="auto", rates=rates)
    record.add("whole", pair=pair, way="auto", rates=whole, bins=bins, decisions=decisions)


def relative_sum(pair, rates, alone):
    """Sum over the pair of rate over the same program's rate alone: 1 is one whole GPU's work."""
    return sum(rate / alone[workload] for rate, workload in zip(rates, PAIRS[pair]))


def _baselines(results, pair):
    found = {}
    for workload in set(PAIRS[pair]):
        rates = [
            one["rate"]
            for one in results
            if one["kind"] == "alone" and one["pair"] == pair and one["workload"] == workload
        ]
        if rates:
            found[workload] = statistics.median(rates)
    return found if len(found) == len(set(PAIRS[pair])) else None


def tables(results):
    """Sums relative to alone per way, and each program's own rate."""
    sums, rates_table, notes = [], [], []
    for pair in PAIRS:
        alone = _baselines(results, pair)
        if alone is None:
            continue
        row, rate_row = [pair], [pair, ", ".join(f"{name} {number(alone[name])}" for name in sorted(alone))]
        for way in WAYS:
            windows = [
                one["rates"] for one in results if one["kind"] == "window" and one["pair"] == pair and one["way"] == way
            ]
            row.append(_cell([relative_sum(pair, rates, alone) for rates in windows]))
            medians = [statistics.median(column) for column in zip(*windows)] if windows else []
            rate_row.append(" + ".join(number(median) for median in medians) or None)
        whole = next((one for one in results if one["kind"] == "whole" and one["pair"] == pair), None)
        row.append(relative_sum(pair, whole["rates"], alone) if whole else None)
        sums.append(tuple(row))
        rates_table.append(tuple(rate_row))
        if whole and whole["decisions"]:
            notes.append(
                f"{pair}, auto: " + "; ".join(f"{one['effective']} ({one['reason']})" for one in whole["decisions"])
            )
    if not sums:
        return []
    how = f"sum of rate over rate alone; median (lowest–highest) of {REPEATS} windows of {WINDOW_S} s"
    columns = ("pair", "time-slicing", "MPS", "Tessera off", "Tessera on", "Tessera auto")
    return [
        Table("Two at once, relative to alone", (*columns, "auto, whole run"), tuple(sums), (how, *notes)),
        Table("Two at once, steps/s", ("pair", "alone", *columns[1:]), tuple(rates_table)),
    ]


def _cell(values):
    if not values:
        return None
    figures = summary(values)
    return f"{figures['median']:.3f} ({figures['low']:.3f}–{figures['high']:.3f})"
