"""Kernels of machine code alone that write where their program has no memory, beside a neighbour in the same context.

Records which program is told, and whether the neighbour goes on.
"""

import os

from harness.bench import under_relay
from harness.neighbour import beside_neighbour
from harness.table import Table
from harness.tessera import Manager

TIMEOUT_S = 60
#: Bytes from an allocation of 4 KiB to the write. Fences take addresses modulo the window's size: the last two are the program's own memory.
STRAYS = {
    "4 GB behind": 4_000_000_000,
    "4 GB before": -4_000_000_000,
    "64 GiB behind": 1 << 36,
    "more than 256 GiB before": -(1 << 38) - 4_000_000_000,
    "more than 1 PiB behind": (1 << 50) + 4_000_000_000,
    "its own memory": 4_092,
    "1 PiB behind": 1 << 50,
}
OWN = ("its own memory", "1 PiB behind")


def run(setting, record):
    """Each write beside a neighbour, all in one executor."""
    program = setting.installation.path("programs", "offenders")
    directory = os.path.join(setting.directory, "strays")
    os.makedirs(directory, exist_ok=True)
    with Manager(setting.installation, directory) as manager:
        for name in setting.chosen(list(STRAYS)):
            record.attempt(name, lambda stray=name: _stray(record, manager, program, stray), 20)


def _stray(record, manager, program, name):
    command = [program, "stray", str(STRAYS[name])]
    outcome = beside_neighbour(manager, under_relay(manager).environment, program, command, ("--fence-alone",), TIMEOUT_S)
    told = "IllegalAddress" in outcome.out and "wrote outside of its memory" in outcome.out
    record.add(
        "stray", stray=name, bytes=STRAYS[name], status=outcome.status, told=told, as_due=told == (name not in OWN),
        neighbour=outcome.neighbour, said=outcome.said[-300:], undisturbed=outcome.undisturbed, out=outcome.out[-600:],
    )  # fmt: skip


def tables(results):
    """A row a write."""
    rows = [(one["stray"], one["told"], one["as_due"], one["undisturbed"]) for one in results if one["kind"] == "stray"]
    columns = ("write", "error 700 and a line", "as is due", "neighbour undisturbed")
    return [Table("Stray writes of machine code beside a neighbour", columns, tuple(rows))] if rows else []
