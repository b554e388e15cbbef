"""Records what PyTorch programs allocate: tensors, and what they ask of the driver, for `tests/bench` to replay."""

import concurrent.futures
import dataclasses
import json
import os
import sys
import tempfile

from harness.allocations import keep
from harness.bench import native, under_tessera
from harness.child import ChildFailed, run_bounded
from harness.table import Table
from harness.tessera import Manager


@dataclasses.dataclass(frozen=True)
class Case:
    """A program of ``workloads/allocations.py``.

    :param steps: how many of it
    :param environment: of PyTorch's allocator; where it is set, the calls of the driver are recorded, not PyTorch's events
    """

    program: str
    steps: int
    environment: dict | None = None


UNCACHED = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
CASES = {
    "gpt": Case("gpt", 60),
    "resnet": Case("resnet", 60),
    "mlp": Case("mlp", 400),
    "gpt-compiled": Case("gpt-compiled", 60),
    "mlp-graphs": Case("mlp-graphs", 60),
    "epochs": Case("epochs", 5),
    "serving": Case("serving", 250),
    "gpt-uncached": Case("gpt", 15, UNCACHED),
    "resnet-uncached": Case("resnet", 15, UNCACHED),
    "serving-uncached": Case("serving", 60, UNCACHED),
    "serving-expandable": Case("serving", 250, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
}
#: The repository keeps these files.
LIMIT_BYTES = 280 << 10
#: With torch.compile and a cold cache.
TIMEOUT_S = 150


def run(setting, record):
    """All cases at once: when something happens is not recorded, only in which order."""
    folder = os.path.join(os.path.dirname(os.path.abspath(record.path)), "traces")
    os.makedirs(folder, exist_ok=True)
    chosen = setting.chosen(CASES)
    with Manager(setting.installation, setting.directory) as manager, concurrent.futures.ThreadPoolExecutor(
        len(chosen)
    ) as pool:
        began = {case: pool.submit(_recorded, setting, manager, case) for case in chosen}
        for case in chosen:
            record.attempt(case, lambda: _keep(setting, record, folder, case, began[case].result()))


def _recorded(setting, manager, case):
    """Runs a case; what its program says."""
    what = CASES[case]
    raw = os.path.join(setting.directory, case)
    command = [sys.executable, os.path.join(setting.workloads, "allocations.py"), what.program, str(what.steps)]
    if what.environment is None:
        place, command, extra = native(), [*command, raw], {}
    else:
        place, extra = under_tessera(manager), {**what.environment, "TESSERA_TRACE": f"{raw}.calls"}
    with tempfile.TemporaryDirectory(prefix="traces-") as cache:
        environment = {**place.environment, **extra, "TRITON_CACHE_DIR": cache, "TORCHINDUCTOR_CACHE_DIR": cache}
        status, out, err = run_bounded(place.wrap(command, f"traces-{case}"), environment, TIMEOUT_S)
    with open(f"{raw}.log", "w", encoding="utf-8") as log:
        log.write(err)
    answers = [line for line in out.splitlines() if line.startswith('{"program"')]
    if status != 0 or not answers:
        raise ChildFailed(f"{case} ended with {status}: {err.strip()[-400:]}")
    return json.loads(answers[-1])


def _keep(setting, record, folder, case, answer):
    for level in ("tensors", "segments", "calls"):
        source = os.path.join(setting.directory, f"{case}.{level}")
        if not os.path.exists(source):
            continue
        operations, kept, size = keep(source, os.path.join(folder, f"{case}.{level}.gz"), LIMIT_BYTES)
        os.unlink(source)  # the logs travel, and these are large
        if not operations:
            raise ChildFailed(f"{case}: nothing was recorded at the level of {level}")
        record.add("trace", case=case, level=level, operations=operations, kept=kept, bytes=size, **answer)


def tables(results):
    """What was recorded."""
    rows = [
        (one["case"], one["level"], one["steps"], one["operations"], one["kept"], one["bytes"] >> 10, one["peak_bytes"] >> 20)
        for one in results
        if one["kind"] == "trace"
    ]
    columns = ("program", "level", "steps", "operations", "kept", "KiB", "tensors at most, MiB")
    note = "tensors: PyTorch's allocations and frees; segments: what its allocator got from the driver; calls: the driver's calls"
    return [Table("Recorded allocations", columns, tuple(rows), (note,))] if rows else []
