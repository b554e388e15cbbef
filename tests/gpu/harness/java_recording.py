"""What the agent's records cost in one process: the same loop of launches before the agent is there and after.

What tells two processes apart (where their memory lies, which core they got) is more than what recording costs; within one
it falls out. The agent is attached while the loop stands still, and what two blocks without it differ by says how much of a
difference means nothing.
"""

import statistics

from harness.child import ChildFailed
from harness.table import Table

PROCESSES = 4
#: Rounds of a block, and before them those for the compilers, which begin anew when the agent comes.
ROUNDS = 16
WARM = 4
LAUNCHES = 20_000
ATTACH_TIMEOUT_S = 30.0
#: Blocks in order; what `tessera jvm` is asked for before each.
BLOCKS = {"without": None, "without again": None, "off": "--record=off", "sampled": "--record=sampled:64", "off again": "--record=off"}
#: What is told: a block, the blocks it is compared with, and the largest ratio that was asked for.
COMPARED = (
    ("without again", ("without",), None),
    ("off", ("without", "without again"), 1.002),
    ("sampled", ("off", "off again"), None),
    ("sampled", ("without", "without again"), 1.01),
)


def run(record, manager, start, ask):
    """``start(name, wrap)`` starts the loop, ready and known to the manager; ``ask(loop, launches)`` has it answer."""
    for number in range(PROCESSES):
        loop = start(f"recording {number}", manager.wrap)
        for block, option in BLOCKS.items():
            if option:
                status, out, err = manager.tessera("jvm", str(loop.pid), option, "--json", timeout_s=ATTACH_TIMEOUT_S)
                if status != 0:
                    raise ChildFailed(f"tessera jvm {option} ended with {status}: {(err or out).strip()[-400:]}")
            answers = [ask(loop, LAUNCHES) for _ in range(WARM + ROUNDS)][WARM:]
            record.add("recording", process=number, block=block, ns=[1e6 * one["ms"] / one["launches"] for one in answers])
        loop.close()


def tables(results):
    """Ratios within each process, by its median and by its fastest round."""
    processes = {}
    for one in results:
        if one["kind"] == "recording":
            processes.setdefault(one["process"], {})[one["block"]] = one["ns"]
    whole = [blocks for blocks in processes.values() if len(blocks) == len(BLOCKS)]
    if not whole:
        return []
    rows = []
    for block, bases, bound in COMPARED:
        columns = []
        for taken in (statistics.median, min):
            ratios = [taken(blocks[block]) / statistics.mean(taken(blocks[base]) for base in bases) for blocks in whole]
            columns.append(f"{statistics.median(ratios):.4f} ({min(ratios):.4f}–{max(ratios):.4f})")
        rows.append((f"{block} / {' and '.join(bases)}", *columns, f"≤ {bound}" if bound else "–"))
    note = f"{len(whole)} processes, blocks of {ROUNDS} rounds of {LAUNCHES} launches; median (lowest–highest) of the processes' ratios"
    usual = statistics.median(statistics.median(blocks["without"]) for blocks in whole)
    return [
        Table("Records within one process", ("blocks", "medians", "fastest rounds", "asked"), tuple(rows), (note, f"without: {usual:.0f} ns a launch"))
    ]
