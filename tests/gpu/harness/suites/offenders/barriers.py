"""What an mbarrier that is not as it must be does to its context: one use after the other, natively, a new process after each that ends it."""

from harness import probes
from harness.table import Table

TIMEOUT_S = 60
#: Probes of single bits and of words that mean nothing are summed up in the table.
SERIES = ("bit_", "pattern_")


def run(setting, record):
    """All probes; behind one that ended its context or hangs, the others in a new process."""
    probes.run(setting, record, "barriers", "barrier", TIMEOUT_S)


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
