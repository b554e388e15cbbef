"""Which calls of a training step wait: for an answer of the executor, or for a completion word."""

import collections
import os

from harness.bench import Bench, under_relay
from harness.figures import verdict
from harness.table import Table
from harness.tessera import Manager

WORKLOADS = ("gpt", "resnet", "mlp")
#: Two runs: what is made once a run (synchronisation, losses, the digest) falls out of the difference.
FEW, MANY = 10, 50
#: Most answers of the executor that a step of this workload may wait for, from the issue that asked for it.
BOUNDS = {"gpt": 2.0}


def run(setting, record):
    """One process a workload, under TESSERA_TRACE."""
    with Manager(setting.installation, setting.directory) as manager, Bench(
        setting.workloads, setting.directory
    ) as bench:
        place = under_relay(manager)
        for workload in setting.chosen(WORKLOADS):
            record.attempt(workload, lambda: _count(setting, record, bench, place, workload), 25)


def _count(setting, record, bench, place, workload):
    path = os.path.join(setting.directory, f"{workload}.trace")
    worker = bench.start(place, workload, name=f"waits-{workload}", environment={"TESSERA_TRACE": path})
    worker.ready()
    counts = []
    for steps in (FEW, MANY):
        offset = os.path.getsize(path)
        worker.steps(steps)
        counts.append(read_trace(path, offset))
    worker.close()
    os.unlink(path)  # tens of megabytes
    steps = MANY - FEW
    per_step = {}
    for kind in ("calls", "answers", "words"):
        few, many = counts[0][kind], counts[1][kind]
        names = {name: (many[name] - few[name]) / steps for name in many.keys() | few.keys()}
        per_step[kind] = {name: count for name, count in sorted(names.items()) if count > 0}
    record.add("waits", workload=workload, **per_step)


def read_trace(path, offset=0):
    """Calls, answers waited for and words waited for, by entry, in a trace from an offset on."""
    counts = {kind: collections.Counter() for kind in ("calls", "answers", "words")}
    with open(path, encoding="ascii", errors="replace") as trace:
        trace.seek(offset)
        for line in trace:
            fields = line.split()
            # Time, thread, entry, result, eight arguments, answers, words; the last line may be half written.
            if len(fields) < 14:
                continue
            counts["calls"][fields[2]] += 1
            counts["answers"][fields[2]] += int(fields[12])
            counts["words"][fields[2]] += int(fields[13])
    return counts


def _named(counts):
    return ", ".join(f"{name} {count:.2f}" for name, count in counts.items()) or "none"


def tables(results):
    """Waits a step, and whose they are."""
    rows = []
    for one in (result for result in results if result["kind"] == "waits"):
        answers, words = sum(one["answers"].values()), sum(one["words"].values())
        bound = BOUNDS.get(one["workload"])
        asked = f"≤ {bound:g}: {verdict(answers, bound, at_least=False)}" if bound else "–"
        calls = sum(one["calls"].values())
        rows.append((one["workload"], calls, answers, asked, _named(one["answers"]), words, _named(one["words"])))
    columns = ("workload", "calls", "answers waited for", "asked", "by", "completion words waited for", "by")
    note = f"a step, from the difference of {MANY} and {FEW} steps traced in one process; a word says that the device has come so far"
    return [Table("Calls that wait", columns, tuple(rows), (note,))] if rows else []
