"""What the driver's checkpoint does to a process by the kind of its memory: taken away, brought back, and what it has then.

Each kind in a process of its own. Natively, where one that does not come back is lost; that decides which processes the
manager may suspend (its CheckpointFitness). And under Tessera, where ``tessera evict --suspend`` is to do no harm to
anybody.
"""

import json
import os

from harness.bench import native, under_tessera
from harness.child import Child, ChildFailed, run_bounded, wait_until
from harness.control import ControlError, client_of
from harness.table import Table
from harness.tessera import Manager

PROGRAM = "checkpointed"
TIMEOUT_S = 20.0
KIND_S = 6


def run(setting, record):
    """All kinds that the program knows, or the chosen ones: natively, then under Tessera."""
    program = setting.installation.path("programs", PROGRAM)
    status, out, err = run_bounded([program], native().environment, TIMEOUT_S)
    if status != 0:
        record.problem(PROGRAM, f"does not say its kinds: {err.strip()[-200:]}")
        return
    kinds = setting.chosen(tuple(out.splitlines()))
    for kind in kinds:
        record.attempt(kind, lambda: _alone(setting, record, program, kind), KIND_S)
    with Manager(setting.installation, setting.directory) as manager:
        for kind in kinds:
            record.attempt(f"{kind}, suspended", lambda: _suspended(setting, record, manager, program, kind), KIND_S)


def _start(setting, place, program, kind):
    child = Child(kind, place.wrap([program, kind], _tenant(kind)), place.environment, os.path.join(setting.directory, "checkpoints.log"))
    try:
        child.read(TIMEOUT_S)
    except ChildFailed:
        child.close()
        raise
    return child


def _tenant(kind):
    return kind.replace(" ", "-").lower()


def _has(child):
    child.write("")
    return json.loads(child.read(TIMEOUT_S))


def _alone(setting, record, program, kind):
    child = _start(setting, native(), program, kind)
    found = {}
    try:
        for action in ("suspend", "restore"):
            found[action] = _answer(setting, action, child.pid)
            if found[action] != "done":
                break
        if found["suspend"] != "done" or found.get("restore") == "done":
            found.update(_has(child))
    finally:
        child.close()
    record.add("checkpoint", memory=kind, **found)


def _answer(setting, action, pid):
    """«done», or the step that failed and the driver's code."""
    program = setting.installation.path("bin", "tessera-checkpoint")
    _, out, _ = run_bounded([program, action, str(pid)], native().environment, TIMEOUT_S)
    said = json.loads(out)
    return "done" if said["ok"] else f"{said['step']}: {said['code']}"


def _suspended(setting, record, manager, program, kind):
    child = _start(setting, under_tessera(manager, "swap"), program, kind)
    try:
        try:
            refused = manager.control.request("evict", tenant=_tenant(kind), suspend=True).get("notSuspended")
        except ControlError as refusal:
            refused = [str(refusal)]
        # The other process has the tenant's name, too.
        own = [sentence for sentence in refused or () if f"process {child.pid}:" in sentence]
        said = own[0] if own else wait_until(lambda: _outcome(manager, child.pid), TIMEOUT_S)
        record.add("suspension", memory=kind, said=said or "nothing", **_has(child))
    finally:
        child.close()


def _outcome(manager, pid):
    memory = ((client_of(manager.control.status(), pid) or {}).get("devices") or [{}])[0].get("residency", {})
    return "suspended" if memory.get("state") == "suspended" else memory.get("notSuspended")


def tables(results):
    """A row a kind."""
    found = {one["memory"]: one for one in results if one["kind"] == "checkpoint"}
    under = {one["memory"]: one for one in results if one["kind"] == "suspension"}
    rows, notes = [], ["a step that failed, and the driver's error; a process that was not restored was ended"]
    sees = ("contents", "writes", "peerSees")
    for kind in [*found, *(kind for kind in under if kind not in found)]:
        natively, there = found.get(kind, {}), under.get(kind, {})
        said = there.get("said")
        refused = "not suspended" if said and said != "suspended" else said
        rows.append((kind, natively.get("suspend"), natively.get("restore"), *map(natively.get, sees), refused, *map(there.get, sees)))
        if refused != said:
            notes.append(f"{kind}: {said}")
    columns = ("memory", "suspended", "restored", "contents", "writing", "the other sees it",
               "under Tessera", "contents", "writing", "the other sees it")  # fmt: skip
    return [Table("Checkpoints by kind of memory", columns, tuple(rows), tuple(notes))] if rows else []
