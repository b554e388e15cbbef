"""Whether Tessera sees every launch: CUPTI's count against the client's own, over the same steps."""

from harness.bench import Bench, under_tessera
from harness.segment import (
    COUNTER_UNGATED,
    COUNTER_VMM_CREATES,
    KIND_GRAPH_LAUNCH,
    KIND_LAUNCH,
)
from harness.table import Table
from harness.tessera import Manager

STEPS = 20
#: Case: workload, options, environment.
CASES = {
    "eager gpt": ("gpt", (), {}),
    "eager mlp": ("mlp", (), {}),
    "eager resnet": ("resnet", (), {}),
    "torch.cuda.graph": ("mlp", ("--variant", "graph"), {}),
    "reduce-overhead": ("mlp", ("--variant", "compile-reduce-overhead"), {}),
    "triton": ("triton_kernel", (), {}),
    "expandable_segments": ("gpt", (), {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
    "cudaMallocAsync": ("gpt", (), {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}),
}
#: Compiling the variant with torch.compile, on a machine with a cold cache.
READY_TIMEOUT_S = 150.0


def run(setting, record):
    """Starts every case at once under one manager and counts them one after the other."""
    cases = setting.chosen(CASES)
    with Manager(setting.installation, setting.directory) as manager, Bench(
        setting.workloads, setting.directory
    ) as bench:
        workers = {}
        for case in cases:
            workload, options, environment = CASES[case]
            workers[case] = bench.start(
                under_tessera(manager),
                workload,
                *options,
                name="count-" + case.replace(" ", "-"),
                environment=environment,
                ready_timeout_s=READY_TIMEOUT_S,
            )
        for case in cases:
            record.attempt(case, lambda: _count(record, manager, case, workers[case]))


def _count(record, manager, case, worker):
    facts = worker.ready()
    cupti, before, after = worker.counted(STEPS, lambda: manager.counters(worker.pid))
    seen = [later - earlier for earlier, later in zip(before["submitted"], after["submitted"])]
    record.add(
        "count",
        case=case,
        steps=STEPS,
        allocator=facts["allocator"],
        expandable=facts["expandable"],
        cupti=cupti,
        tessera={"kernel_launches": seen[KIND_LAUNCH], "graph_launches": seen[KIND_GRAPH_LAUNCH]},
        status_launches=after["status_launches"] - before["status_launches"],
        submitted=seen,
        vmm_creates=after["counters"][COUNTER_VMM_CREATES],
        ungated=after["counters"][COUNTER_UNGATED],
    )


def tables(results):
    """One row per case; ``equal`` compares kernel launches and graph launches each."""
    rows = []
    for one in results:
        if one["kind"] != "count":
            continue
        cupti, ours = one["cupti"], one["tessera"]
        equal = all(cupti[key] == ours[key] for key in ("kernel_launches", "graph_launches"))
        rows.append(
            (
                one["case"],
                cupti["kernel_launches"],
                ours["kernel_launches"],
                cupti["graph_launches"],
                ours["graph_launches"],
                equal,
                cupti["kernels_by_correlation"],
                f"{one['allocator']}{', expandable' if one['expandable'] else ''}",
            )
        )
    columns = (
        "case",
        "kernel launches, CUPTI",
        "Tessera",
        "graph launches, CUPTI",
        "Tessera",
        "equal",
        "kernels by correlation",
        "allocator",
    )
    notes = (f"{STEPS} steps each; both counters were read while the process was quiet",)
    return [Table("Launch counts", columns, tuple(rows), notes)] if rows else []
