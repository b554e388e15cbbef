"""What else in a context stands still while one of its streams waits, or runs a kernel that does not end: a driver call a process, natively."""

import concurrent.futures
import json

from harness.bench import native
from harness.child import run_bounded
from harness.table import Table

TIMEOUT_S = 30
#: Processes at once: most of their time they wait.
AT_ONCE = 8
WAYS = ("wait", "managed")
_NEVER = -1


def run(setting, record):
    """Every operation of `programs/standing` in every way; those that are named among the cases, else all."""
    program = setting.installation.path("programs", "standing")
    status, out, err = run_bounded([program, "list"], native().environment, TIMEOUT_S)
    if status != 0:
        record.problem("operations", f"ended with {status}: {err.strip()[-400:]}")
        return
    chosen = setting.chosen(out.splitlines())
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        cases = [(way, operation) for way in WAYS for operation in chosen]
        for (way, operation), one in zip(cases, pool.map(lambda case: _try(program, *case), cases)):
            if isinstance(one, str):
                record.problem(f"{operation}, {way}", one)
            else:
                record.add("standing", **one)


def _try(program, way, operation):
    status, out, err = run_bounded([program, way, operation], dict(native().environment, CUDA_MODULE_LOADING="LAZY"), TIMEOUT_S)
    return json.loads(out) if status == 0 else f"ended with {status}: {err.strip()[-400:]}"


def _time(value):
    return "waits" if value == _NEVER else value


def tables(results):
    """A row an operation: what it takes beside a stream that waits, and beside a kernel that does not end."""
    found = {(one["how"], one["operation"]): one for one in results if one["kind"] == "standing"}
    rows = []
    for operation in dict.fromkeys(operation for _, operation in found):
        row = [operation]
        for way in WAYS:
            one = found.get((way, operation))
            row += [_time(one[key]) if one else None for key in ("ms", "query_ms", "launch_ms")]
        last = found.get((WAYS[1], operation))
        rows.append((*row, last["end_ms"] if last else None))
    columns = ("operation", "beside a wait, ms", "query", "launch", "beside a kernel, ms", "query", "launch", "end after the word, ms")
    note = "waits: not over after 2 s; query and launch: of an old event and a loaded kernel by other threads afterwards; the kernel's word is managed memory that lies on the device, written by the host"
    return [Table("What stands still with a stream", columns, tuple(rows), (note,))] if rows else []
