"""What a kernel of machine code can do wrong: the driver's error natively, and by relay whether a neighbour in the same context goes on."""

import os
import re

from harness.bench import native, under_relay
from harness.child import run_bounded
from harness.neighbour import beside_neighbour
from harness.table import Table
from harness.tessera import Manager

TIMEOUT_S = 30
KERNEL_S = 3
FAULTS = (
    "misaligned_load", "misaligned_store", "misaligned_wide", "misaligned_atomic", "misaligned_shared", "misaligned_local", "shared_beyond",
    "local_beyond", "constants_beyond", "stack", "null_load", "null_store", "far_load", "wild_call", "texture", "barrier_count", "trap",
    "breakpoint", "assertion",
)  # fmt: skip


def run(setting, record):
    """Each fault in a process of its own, and then beside a neighbour in an executor of its own."""
    program = setting.installation.path("programs", "offenders")
    for name in setting.chosen(list(FAULTS)):
        record.attempt(name, lambda fault=name: _fault(setting, record, program, fault), 15)


def _error(text):
    """The last error that the program got."""
    errors = re.findall(r"^\S+: (\d+ \w+)$", text, re.MULTILINE)
    return errors[-1] if errors else "none told"


def _fault(setting, record, program, name):
    status, out, err = run_bounded([program, name], native().environment, TIMEOUT_S)
    directory = os.path.join(setting.directory, name)
    os.makedirs(directory, exist_ok=True)
    with Manager(setting.installation, directory) as manager:
        options = ("--fence-alone", "--kernel-timeout", str(KERNEL_S))
        outcome = beside_neighbour(manager, under_relay(manager).environment, program, [program, name], options, TIMEOUT_S)
    record.add(
        "fault", fault=name, native=_error(out), native_status=status, relay=_error(outcome.out), status=outcome.status,
        undisturbed=outcome.undisturbed, sums=outcome.sums, out=(out + err)[-400:], relay_out=outcome.out[-600:],
    )  # fmt: skip


def tables(results):
    """A row a fault."""
    rows = [(one["fault"], one["native"], one["relay"], one["undisturbed"]) for one in results if one["kind"] == "fault"]
    columns = ("fault", "natively", "by relay", "neighbour undisturbed")
    return [Table("Faults of machine code beside a neighbour", columns, tuple(rows))] if rows else []
