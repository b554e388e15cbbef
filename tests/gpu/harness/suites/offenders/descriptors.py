"""What wgmma does with matrix descriptors that point beyond a block's shared memory: does the context end, is another's memory read."""

from harness import probes
from harness.table import Table

TIMEOUT_S = 60


def run(setting, record):
    """All probes; behind one that ended its context or hangs, the others in a new process."""
    probes.run(setting, record, "descriptors", "descriptors", TIMEOUT_S)


def tables(results):
    """A row a probe; one that ended the context says with which descriptor, one that read what is not its own with which first."""
    found = [one for one in results if one["kind"] == "descriptors"]
    if not found:
        return []
    head = ("probe", "error", "tried", "holders", "not zeros", "secret", "the first", "the last")
    rows = []
    for one in found:
        ended = one["ended"] != "nothing"
        tried = one.get("begun") if ended else one.get("tried")
        first = one.get("first") if one.get("seen") else None
        rows.append((one["probe"], one["ended"], tried, one.get("holders"), one.get("seen"), one.get("secret"), first, one.get("last") if ended else None))
    return [Table("wgmma with descriptors that point anywhere", head, tuple(rows))]
