"""What the driver's checkpoint does to a process by the kind of its memory: taken away, brought back, and what it has then.

Each kind in a process of its own, natively: a process that does not come back is lost. Decides which clients the manager
may suspend (CheckpointFitness).
"""

import json
import os

from harness.bench import native
from harness.child import Child, run_bounded
from harness.table import Table

PROGRAM = "checkpointed"
TIMEOUT_S = 20.0
KIND_S = 6


def run(setting, record):
    """All kinds that the program knows, or the chosen ones."""
    program = setting.installation.path("programs", PROGRAM)
    status, out, err = run_bounded([program], native().environment, TIMEOUT_S)
    if status != 0:
        record.problem(PROGRAM, f"does not say its kinds: {err.strip()[-200:]}")
        return
    for kind in setting.chosen(tuple(out.splitlines())):
        record.attempt(kind, lambda: _kind(setting, record, program, kind), KIND_S)


def _kind(setting, record, program, kind):
    log = os.path.join(setting.directory, "checkpoints.log")
    child = Child(kind, [program, kind], native().environment, log)
    found = {}
    try:
        child.read(TIMEOUT_S)
        for action in ("suspend", "restore"):
            found[action] = _answer(setting, action, child.pid)
            if found[action] != "done":
                break
        if found["suspend"] != "done" or found.get("restore") == "done":
            child.write("")
            found.update(json.loads(child.read(TIMEOUT_S)))
    finally:
        child.close()
    record.add("checkpoint", memory=kind, **found)


def _answer(setting, action, pid):
    """«done», or the step that failed and the driver's code."""
    program = setting.installation.path("bin", "tessera-checkpoint")
    _, out, _ = run_bounded([program, action, str(pid)], native().environment, TIMEOUT_S)
    said = json.loads(out)
    return "done" if said["ok"] else f"{said['step']}: {said['code']}"


def tables(results):
    """A row a kind."""
    found = [one for one in results if one["kind"] == "checkpoint"]
    rows = [
        (one["memory"], one["suspend"], one.get("restore"), one.get("contents"), one.get("writes"), one.get("peerSees"))
        for one in found
    ]
    columns = ("memory", "suspended", "restored", "contents", "writing", "the other process sees it")
    note = "a step that failed, and the driver's error; a process that was not restored was ended"
    return [Table("Checkpoints by kind of memory", columns, tuple(rows), (note,))] if rows else []
