"""How long PyTorch takes to its first warm step: natively and by relay on an executor that runs already, in turn."""

from harness.bench import Bench, native, under_relay
from harness.figures import summary, verdict, with_spread
from harness.table import Table
from harness.tessera import Manager

WORKLOADS = ("gpt", "resnet", "mlp")
ALTERNATIONS = 5
#: Most seconds that the start may take longer than natively, from the issue that asked for it.
BOUND_S = 0.5


def run(setting, record):
    """One start by relay that nobody counts, for the executor to be warm; then alternations."""
    with Manager(setting.installation, setting.directory) as manager:
        places = (native(), under_relay(manager))
        record.attempt("warm", lambda: _start(setting, record, places[1], WORKLOADS[0], "warm"), 20)
        for workload in setting.chosen(WORKLOADS):
            for turn in range(ALTERNATIONS):
                for place in places if turn % 2 == 0 else places[::-1]:
                    record.attempt(
                        f"{place.name} {workload} {turn + 1}",
                        lambda: _start(setting, record, place, workload, turn),
                        20,
                    )


def _start(setting, record, place, workload, turn):
    with Bench(setting.workloads, setting.directory) as bench:
        worker = bench.start(place, workload, name=f"{place.name}-{workload}-{turn}")
        record.add("start", workload=workload, placement=place.name, turn=turn, seconds=worker.ready()["start_seconds"])


def tables(results):
    """Medians, and what the relay adds."""
    rows = []
    for workload in WORKLOADS:
        seconds = {
            place: [
                one["seconds"]
                for one in results
                if one["kind"] == "start"
                and one["workload"] == workload
                and one["placement"] == place
                and one["turn"] != "warm"
            ]
            for place in ("native", "space")
        }
        if not all(seconds.values()):
            continue
        longer = summary(seconds["space"])["median"] - summary(seconds["native"])["median"]
        asked = f"≤ {BOUND_S}: {verdict(longer, BOUND_S, at_least=False)}"
        rows.append((workload, with_spread(seconds["native"]), with_spread(seconds["space"]), longer, asked))
    columns = ("workload", "native, s", "relay, s", "longer, s", "asked")
    note = f"import of PyTorch to the end of 10 warm-up steps; median (lowest–highest) of {ALTERNATIONS}; the executor has served a program before"
    return [Table("Start on a warm executor", columns, tuple(rows), (note,))] if rows else []
