"""Which parts of PyTorch work under plan auto and by relay: each case natively and in both ways."""

import json
import os
import sys

from harness.bench import native, under_relay, under_tessera
from harness.child import run_bounded
from harness.table import Table
from harness.tessera import Manager

#: Cases that can share one process, in the order in which they run.
TOGETHER = (
    "train_step", "convolution", "streams_and_events", "copies", "threads", "memory_figures", "out_of_memory",
    "random_numbers", "save_and_load", "fft", "linalg", "sparse", "inline_cuda", "pinned_loader", "cuda_graph",
    "cuda_graph_matmul", "triton_kernel", "compiled", "compiled_reduce_overhead",
)  # fmt: skip
#: Cases in a process of their own, with what its environment needs. The one that loses the context comes last.
APART = {
    "expandable_segments": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"},
    "malloc_async": {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"},
    "shared_tensors": {},
    "device_assert": {},
}
TIMEOUT_S = 150


def run(setting, record):
    """Natively once, then under plan auto, then by relay."""
    chosen = setting.chosen(TOGETHER + tuple(APART))
    with Manager(setting.installation, setting.directory) as manager:
        for place in (native(), under_tessera(manager, "auto"), under_relay(manager)):
            together = [name for name in TOGETHER if name in chosen]
            if together:
                record.attempt(f"{place.name}", lambda: _cases(setting, record, place, together, {}), 30)
            for name in (name for name in APART if name in chosen):
                record.attempt(f"{place.name} {name}", lambda: _cases(setting, record, place, [name], APART[name]), 15)


def _cases(setting, record, place, names, extra):
    program = [sys.executable, os.path.join(setting.workloads, "families.py"), *names]
    label = f"{place.name}-{names[0]}"
    # A compiler cache of its own for each placement: what one compiled must not serve the other.
    cache = os.path.join(setting.directory, f"cache-{place.name}")
    environment = {
        **place.environment,
        **extra,
        "TRITON_CACHE_DIR": cache,
        "TORCHINDUCTOR_CACHE_DIR": cache,
        "CUDA_CACHE_DISABLE": "1",
    }
    status, out, err = run_bounded(place.wrap(program, label), environment, TIMEOUT_S)
    with open(os.path.join(setting.directory, f"{label}.log"), "w", encoding="utf-8") as log:
        log.write(err)
    answered = set()
    for line in out.splitlines():
        if line.startswith('{"case"'):
            answer = json.loads(line)
            answered.add(answer["case"])
            record.add("case", placement=place.name, **answer)
    for name in names:
        if name not in answered:
            detail = f"no answer; the process ended with {status}: {err.strip()[-200:]}"
            record.add("case", placement=place.name, case=name, ok=False, detail=detail)


def tables(results):
    """One row a case."""
    by_case = {}
    for one in results:
        if one["kind"] == "case":
            by_case.setdefault(one["case"], {})[one["placement"]] = one
    rows = []
    for name, places in by_case.items():
        cells = [places[place]["ok"] if place in places else None for place in ("native", "auto", "space")]
        detail = next((one["detail"] for one in places.values() if not one["ok"]), "")
        rows.append((name, *cells, detail.replace("\n", " ")[:160]))
    note = "each case computes something and compares it with the CPU"
    return [Table("Parts of PyTorch", ("case", "native", "plan auto", "relay", "detail"), tuple(rows), (note,))] if rows else []
