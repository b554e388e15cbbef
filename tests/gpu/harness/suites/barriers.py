"""What an mbarrier that is not as it must be does to its context: one use after the other, natively, a new process after each that ends it."""

import json

from harness.bench import native
from harness.child import run_bounded
from harness.table import Table

TIMEOUT_S = 60
#: Probes of single bits and of words that mean nothing are summed up in the table.
SERIES = ("bit_", "pattern_")


def run(setting, record):
    """All probes; behind one that ended its context or hangs, the others in a new process."""
    program = setting.installation.path("programs", "barriers")
    status, out, err = run_bounded([program, "--list"], native().environment, TIMEOUT_S)
    if status != 0:
        record.problem("probes", f"ended with {status}: {err.strip()[-400:]}")
        return
    left = setting.chosen(out.split())
    while left:
        status, out, err = run_bounded([program, *left], native().environment, TIMEOUT_S)
        done = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
        for one in done:
            record.add("barrier", **one)
        if not done:
            record.problem(left[0], f"ended with {status}: {err.strip()[-400:]}")
        left = left[max(1, len(done)) :]


def tables(results):
    """A row a probe, then which of the series ended the context."""
    found = [one for one in results if one["kind"] == "barrier"]
    if not found:
        return []
    rows = [
        (one["probe"], one["ended"], one.get("made"), one.get("after"), one.get("state"), one.get("over"))
        for one in found
        if not one["probe"].startswith(SERIES)
    ]
    made = [Table("mbarriers that are not as they must be", ("probe", "error", "made", "after", "state", "over"), tuple(rows))]
    for series in SERIES:
        of = [one for one in found if one["probe"].startswith(series)]
        errors = sorted({one["ended"] for one in of})
        rows = [(error, ", ".join(one["probe"].removeprefix(series) for one in of if one["ended"] == error)) for error in errors]
        if rows:
            made.append(Table(f"mbarriers: {series}N", ("error", "which"), tuple(rows)))
    return made
