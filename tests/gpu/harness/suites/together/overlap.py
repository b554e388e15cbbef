"""What two trainings at once in one context lose against MPS, and to what: the executor with other settings, side by side."""

import contextlib
import statistics

from harness.bench import Bench, measure, native, under_mps, under_relay
from harness.figures import ratio
from harness.mps import Mps
from harness.segment import KIND_LAUNCH
from harness.table import Table
from harness.tessera import Manager

WORKLOAD = "resnet"
#: Options of executors' Java.
_JAVA = "TESSERA_EXECUTOR_JAVA"
# : Settings by name. Events: one is recorded after this many submissions of a stream; a device does more for an event than for : a launch;
# a number that no driver takes at once means none.
SETTINGS = {
    "as it is": {},
    "events every 32": {_JAVA: "-Dtessera.executor.eventsEvery=32"},
    "no events": {_JAVA: "-Dtessera.executor.eventsEvery=1000000", "TESSERA_MANAGER_KERNEL_TIMEOUT": "off"},
}
MPS = "mps"
#: Both trainings in one process, natively, on two streams: a step of that workload is one of each. What this lacks against
#: MPS is lost by sharing a context, from any submitter.
ONE_PROCESS, ONE_PROCESS_WORKLOAD = "one process, two streams", "resnet_twice"
REPEATS = 7
WINDOW_S = 2.0


def run(setting, record):
    """All ways are started once, measured in turn; each setting has a manager, and so an executor, of its own."""
    chosen = setting.chosen(SETTINGS)
    record.attempt("all", lambda: _all(setting, record, chosen), 100)


def _all(setting, record, chosen):
    with contextlib.ExitStack() as stack:
        mps = stack.enter_context(Mps(setting.directory))
        places = {MPS: under_mps(mps), ONE_PROCESS: native()}
        managers = {}
        for name in chosen:
            manager = stack.enter_context(Manager(setting.installation, setting.directory, SETTINGS[name]))
            managers[name], places[name] = manager, under_relay(manager)
        bench = stack.enter_context(Bench(setting.workloads, setting.directory))
        groups = {
            name: [bench.start(place, workload, name=_label(name, index)) for index, workload in enumerate(_workloads(name))]
            for name, place in places.items()
        }
        for workers in groups.values():
            for worker in workers:
                worker.ready()
        ways = list(groups)
        for repeat in range(REPEATS):
            for name in ways[repeat % len(ways) :] + ways[: repeat % len(ways)]:
                rates, _ = measure(groups[name], WINDOW_S)
                record.add("window", way=name, rates=2 * rates if name == ONE_PROCESS else rates)
        for name in chosen:
            submitted = managers[name].counters(groups[name][0].pid)["submitted"]
            record.add("submitted", way=name, by_kind=submitted)


def _workloads(name):
    return (ONE_PROCESS_WORKLOAD,) if name == ONE_PROCESS else (WORKLOAD, WORKLOAD)


def _label(name, index):
    return f"{name.replace(',', '').replace(' ', '-')}-{index}"


def tables(results):
    """Each way's sum of rates, and its ratio to MPS by window and over all."""
    sums = {}
    for one in results:
        if one["kind"] == "window":
            sums.setdefault(one["way"], []).append(sum(one["rates"]))
    if MPS not in sums:
        return []
    base = statistics.median(sums[MPS])
    rows = [
        (way, statistics.median(found), min(found), max(found), ratio(found, sums[MPS]), statistics.median(found) / base)
        for way, found in sums.items()
    ]
    columns = ("way", "steps/s of both", "lowest", "highest", "against MPS", "of medians")
    notes = [f"two {WORKLOAD} at once; medians of {REPEATS} windows of {WINDOW_S} s, in turn in one run"]
    notes += [
        f"{one['way']}: submitted by kind (tessera_abi.h) to 1000 launches: {_by_launches(one['by_kind'])}"
        for one in results
        if one["kind"] == "submitted" and one["by_kind"][KIND_LAUNCH]
    ]
    return [Table("Two trainings in one context, setting by setting", columns, tuple(rows), tuple(notes))]


def _by_launches(by_kind):
    launches = by_kind[KIND_LAUNCH]
    return ", ".join(f"{kind}: {1000 * count / launches:.1f}" for kind, count in enumerate(by_kind) if count)
