"""One program alone: native against relay, interleaved; losses; start; what is on the GPU; calls that wait."""

import itertools
import shutil

from harness.bench import Bench, measure, native, under_relay
from harness.child import run_bounded
from harness.figures import ratio, summary, verdict, with_spread
from harness.table import Table
from harness.tessera import Manager, native_environment

WORKLOADS = ("gpt", "resnet", "mlp")
PLACEMENTS = ("native", "space")
#: Least ratio to native, from the issue that asked for these figures.
BOUNDS = {"gpt": 0.99, "resnet": 0.99, "mlp": 1.0}
#: Most seconds that the start may take longer than natively.
START_BOUND_S = 0.5
ROUNDS = {"gpt": 2, "resnet": 2, "mlp": 3}
REPEATS = 5
WINDOW_S = 1.6
LOSS_STEPS = 20


def run(setting, record):
    """Losses first: a relay that computes something else need not be measured."""
    workloads = setting.chosen(WORKLOADS)
    with Manager(setting.installation, setting.directory) as manager:
        places = (native(), under_relay(manager))
        for workload in workloads:
            record.attempt(f"losses {workload}", lambda: _losses(setting, record, places, workload), 20)
        for workload in workloads:
            for turn in range(ROUNDS[workload]):
                record.attempt(
                    f"rates {workload} {turn + 1}", lambda: _rates(setting, record, manager, places, workload, turn), 35
                )


def _compute_processes():
    """Process ids that own a compute context, by the vendor's tool; None where it cannot say."""
    if not shutil.which("nvidia-smi"):
        return None
    query = ["nvidia-smi", "--query-compute-apps=pid", "--format=csv,noheader"]
    status, out, _ = run_bounded(query, native_environment(), 20)
    return [int(word) for word in out.split() if word.isdigit()] if status == 0 else None


def _rates(setting, record, manager, places, workload, turn):
    with Bench(setting.workloads, setting.directory) as bench:
        workers = []
        # One after the other: starts are compared too, and two at once would slow each other.
        for place in places if turn % 2 == 0 else places[::-1]:
            worker = bench.start(place, workload)
            facts = worker.ready()
            record.add("start", workload=workload, placement=place.name, seconds=facts["start_seconds"])
            workers.append((place.name, worker))
        relayed = dict(workers)["space"]
        record.add("processes", pid=relayed.pid, compute=_compute_processes(), client=manager.client(relayed.pid))
        for repeat in range(REPEATS):
            shift = (repeat + turn) % len(workers)
            for name, worker in workers[shift:] + workers[:shift]:
                rates, bins = measure([worker], WINDOW_S)
                record.add("rate", workload=workload, placement=name, round=turn, rate=rates[0], bins=bins[0])


def _losses(setting, record, places, workload):
    with Bench(setting.workloads, setting.directory) as bench:
        workers = [
            (place.name, bench.start(place, workload, "--deterministic", name=f"{place.name}-{workload}-losses"))
            for place in places
        ]
        for name, worker in workers:
            worker.ready()
            done = worker.steps(LOSS_STEPS)
            record.add("losses", workload=workload, placement=name, losses=done["losses"], state=done["state"])


def tables(results):
    """Rates, starts, losses."""
    return _rate_table(results) + _start_table(results) + _loss_table(results)


def _values(results, kind, field, workload):
    return {
        place: [
            one[field]
            for one in results
            if one["kind"] == kind and one["workload"] == workload and one["placement"] == place
        ]
        for place in PLACEMENTS
    }


def _rate_table(results):
    rows = []
    for workload in WORKLOADS:
        values = _values(results, "rate", "rate", workload)
        if not any(values.values()):
            continue
        found = ratio(values["space"], values["native"])
        bound = BOUNDS[workload]
        rows.append(
            (workload, *(with_spread(values[p]) for p in PLACEMENTS), found, f"≥ {bound}: {verdict(found, bound)}")
        )
    columns = ("workload", "native, steps/s", "relay, steps/s", "relay/native", "asked")
    seen = [one for one in results if one["kind"] == "processes" and one["compute"] is not None]
    notes = [f"median (lowest–highest) of windows of {WINDOW_S} s, interleaved, in several processes per placement"]
    if seen:
        hidden = all(one["pid"] not in one["compute"] for one in seen)
        notes.append(f"client among the GPU's compute processes: {'no' if hidden else 'YES'} ({len(seen)} looks)")
    return [Table("Alone by relay", columns, tuple(rows), tuple(notes))] if rows else []


def _start_table(results):
    rows = []
    for workload in WORKLOADS:
        values = _values(results, "start", "seconds", workload)
        if not all(values.values()):
            continue
        longer = summary(values["space"])["median"] - summary(values["native"])["median"]
        asked = f"≤ {START_BOUND_S}: {verdict(longer, START_BOUND_S, at_least=False)}"
        rows.append((workload, *(with_spread(values[p]) for p in PLACEMENTS), longer, asked))
    columns = ("workload", "native, s", "relay, s", "longer, s", "asked")
    note = "import of PyTorch to the end of 10 warm-up steps; the executor runs already, but for the first program"
    return [Table("Start by relay", columns, tuple(rows), (note,))] if rows else []


def _loss_table(results):
    rows = []
    losses = [one for one in results if one["kind"] == "losses"]
    for workload, group in itertools.groupby(losses, key=lambda one: one["workload"]):
        by_place = {one["placement"]: (one["losses"], one["state"]) for one in group}
        if len(by_place) == 2:
            rows.append((workload, by_place["native"] == by_place["space"], len(by_place["native"][0])))
    note = "equal: every digit of every loss, and every bit of the model after the last step"
    return [Table("Losses by relay", ("workload", "equal", "losses"), tuple(rows), (note,))] if rows else []
