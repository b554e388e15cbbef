"""Kernels of machine code alone reach for a neighbour's memory in the same context: fenced, and as a control as they are."""

import os
import subprocess

from harness.bench import native, under_relay
from harness.child import run_bounded
from harness.table import Table
from harness.tessera import Manager

TIMEOUT_S = 60
#: What the neighbour holds.
HELD = "22222222"
#: In the environment of a manager: images without PTX run as they are.
AS_IT_IS = "TESSERA_EXECUTOR_MACHINE_CODE_AS_IT_IS"
#: Enough to show that the attacks reach their aim where nothing fences them.
CONTROL = ("store", "load", "add", "copy_async")


def run(setting, record):
    """Fenced first; then the control, which must succeed."""
    program = setting.installation.path("programs", "reach")
    status, out, err = run_bounded([program, "forms"], native().environment, TIMEOUT_S)
    if status != 0:
        record.problem("forms", f"ended with {status}: {err.strip()[-400:]}")
        return
    forms = setting.chosen(out.split())
    for place, chosen in (("fenced", forms), ("as it is", [form for form in CONTROL if form in forms])):
        os.environ.pop(AS_IT_IS, None)
        if place == "as it is":
            os.environ[AS_IT_IS] = "1"
        try:
            directory = os.path.join(setting.directory, place.replace(" ", "-"))
            os.makedirs(directory, exist_ok=True)
            with Manager(setting.installation, directory) as manager:
                record.attempt(place, lambda: _forms(record, program, under_relay(manager), place, chosen), 30)
        finally:
            os.environ.pop(AS_IT_IS, None)


def _forms(record, program, space, place, forms):
    # A holder whose memory was changed is not what it was: the next form gets another one.
    while forms:
        forms = _against_holder(record, program, space, place, forms)


def _against_holder(record, program, space, place, forms):
    """Tries forms until one has changed the holder's memory; returns those that are left."""
    holder = subprocess.Popen(
        space.wrap([program, "hold"], "victim"), env=space.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    left = list(forms)
    try:
        address = holder.stdout.readline().strip()
        while left:
            form = left.pop(0)
            # A name of its own: programs of one name share a window.
            reached = run_bounded(space.wrap([program, address, form], f"attacker-{form}"), space.environment, TIMEOUT_S)
            holder.stdin.write("\n")
            holder.stdin.flush()
            changed = int(holder.stdout.readline())
            own = run_bounded(space.wrap([program, "own", form], f"own-{form}"), space.environment, TIMEOUT_S)
            words = reached[1].split()
            record.add(
                "reach", place=place, form=form, status=reached[0], read=words[1] if len(words) > 1 else None, changed=changed,
                escaped=changed > 0 or len(words) > 1 and words[1] == HELD,
                right=own[0] == 0 and "right" in own[1], out=(reached[1] + reached[2] + own[1] + own[2])[-600:],
            )  # fmt: skip
            if changed > 0:
                break
        holder.stdin.write("q\n")
        holder.stdin.flush()
        record.add("holder", place=place, status=holder.wait(TIMEOUT_S))
        return left
    finally:
        if holder.poll() is None:
            holder.kill()


def tables(results):
    """A row a form."""
    rows = [
        (one["place"], one["form"], one["escaped"], one["changed"], one["read"], one["right"])
        for one in results
        if one["kind"] == "reach"
    ]
    columns = ("kernels", "form", "reached the neighbour", "words changed there", "read", "own memory right")
    return [Table("Machine code that reaches for a neighbour's memory", columns, tuple(rows))] if rows else []
