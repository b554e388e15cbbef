"""The figures of RESULTS.md: what each is, what is asked of it, and where it stands in the tables of a suite."""

import dataclasses
import re
import shlex
import typing

from harness.figures import number
from harness.suites.cost import alone, overhead, relay
from harness.suites.together import handover, mixes, spaces
from harness.suites.together import beside as beside_suite


#: A run of the suite `endless` with fewer kinds of kernel is no figure.
ENDLESS_KINDS = 6
BESIDE_ASKED = "A small model beside one heavy program, what is asked"
MODELS = "Servers of language models"
GEMM, TRAINING, STREAM = (beside_suite.HEAVIES[case].text for case in ("gemm", "training", "stream"))


def at(row, column):
    """The cell of the row that begins so."""

    def pick(table):
        place = table.columns.index(column)
        return next((one[place] for one in table.rows if one[0] == row), None)

    return pick


def count(column, word):
    """How many rows have the word in the column."""

    def pick(table):
        place = table.columns.index(column)
        return sum(word in str(one[place]) for one in table.rows)

    return pick


def share(column, word):
    """How many rows have the word in the column, and of how many."""

    def pick(table):
        return f"{count(column, word)(table)} of {len(table.rows)}"

    return pick


def of_native(row, ratio, native):
    """A ratio to native with native's own spread: what is nearer to 1 than that says nothing."""

    def pick(table):
        value = at(row, ratio)(table)
        spread = re.fullmatch(r"([\d.]+) \(([\d.]+)–([\d.]+)\)", str(at(row, native)(table)))
        if value is None or not spread:
            return value
        median, low, high = map(float, spread.groups())
        return f"{value:.3f} (native varies by {(high - low) / median:.1%})"

    return pick


def beside(heavy, way):
    """The ratio of a small model's 99th percentile to what it is held against, with its milliseconds and what the heavy program keeps."""

    def pick(table):
        row = next((one for one in table.rows if one[0] == heavy and one[1] == way), None)
        return None if row is None else f"{number(row[4])} ({number(row[2])} ms; the heavy program keeps {row[6]:.2f})"

    return pick


def most(column, row=None):
    """The largest number of a column, in all rows or those that begin so. Old records may lack the column."""

    def pick(table):
        if column not in table.columns:
            return None
        place = table.columns.index(column)
        rows = [one for one in table.rows if row is None or one[0] == row]
        numbers = [one[place] for one in rows if isinstance(one[place], (int, float))]
        return max(numbers, default=None)

    return pick


def of_row(first, second, column):
    """A figure that reads a column in the row that begins with two words."""

    def pick(table):
        return next((row[table.columns.index(column)] for row in table.rows if row[:2] == (first, second)), None)

    return pick


def of_asked(first, second, column, asked):
    """A figure that divides a column of such a row by what is asked of it there."""

    def pick(table):
        value, bound = of_row(first, second, column)(table), of_row(first, second, asked)(table)
        return value / bound if value is not None and bound else None

    return pick


def no_others(column, right=True):
    """Whether every cell of the column is that one."""

    def pick(table):
        place = table.columns.index(column)
        return all(one[place] is right or one[place] == right for one in table.rows) if table.rows else None

    return pick


def _of_operators(table, by_relay, *columns):
    """Sums of columns over all ways, or over those by relay; what was looked at once more counts once."""
    rows = [one for one in table.rows if not one[0].endswith("alone") and (not by_relay or one[0].startswith("relay"))]
    return sum(one[table.columns.index(column)] for one in rows for column in columns)


@dataclasses.dataclass(frozen=True)
class Figure:
    """One row of the page.

    :param key: its name in kept records; never changed
    :param what: as a reader reads it
    :param fenced: ``fenced``, ``partly fenced`` (programs of machine code, by relay) or ``turns`` (one program at a time)
    :param suite: the suite that measures it
    :param table: how the table's title begins
    :param pick: the value, from the table
    :param asked: such as ``≥ 0.995``; empty: nothing was
    :param only: the cases to name, for a quick run
    :param counts: it counts rows, so it can only be taken of a whole record
    :param front: it stands in README.md, too
    """

    key: str
    what: str
    fenced: str
    suite: str
    table: str
    pick: typing.Callable
    asked: str = ""
    only: str = ""
    counts: bool = False
    front: bool = False

    @property
    def command(self):
        """What measures it again."""
        return f"run {self.suite}" + (f" --only {shlex.quote(self.only)}" if self.only else "")


def _each(names, make):
    return [make(name) for name in names]


FIGURES = [
    *_each(
        [(workload, f"≥ {bound}") for workload, bound in alone.BOUNDS.items()],
        lambda one: Figure(
            f"alone.{one[0]}", f"{one[0]} alone in turns, of native speed", "turns", "alone", "Alone", of_native(one[0], "plain/native", "native, steps/s"),
            one[1], one[0], front=True,
        ),
    ),
    Figure("alone.losses", "losses in turns equal native ones to the last digit", "turns", "alone", "Losses equal", no_others("plain"), "= yes"),
    *_each(
        [(workload, f"≥ {bound}") for workload, bound in relay.BOUNDS.items()],
        lambda one: Figure(
            f"relay.{one[0]}", f"{one[0]} alone by relay, of native speed", "partly fenced", "relay", "Alone by relay",
            of_native(one[0], "relay/native", "native, steps/s"), one[1], one[0], front=True,
        ),
    ),
    Figure("relay.losses", "losses by relay equal native ones to the last digit", "partly fenced", "relay", "Losses by relay", no_others("equal"), "= yes"),
    *_each(
        ("gpt+gpt", "mlp+mlp", "gpt+resnet"),
        lambda pair: Figure(
            f"pairs.{pair}", f"{pair} in turns (`auto`), sum over one alone", "turns", "pairs", "Two at once, relative",
            at(pair, "Tessera auto"), "", pair, front=True,
        ),
    ),
    *_each(
        ("gpt+gpt", "mlp+mlp", "resnet+resnet", "gpt+resnet"),
        lambda pair: Figure(
            f"spaces.{pair}", f"{pair} by relay, of MPS in the same run", "partly fenced", "spaces", "Two at once in one context",
            at(pair, "relay/MPS"), f"≥ {spaces.BOUND}", pair, front=True,
        ),
    ),
    *_each(
        ("2", "4", "8"),
        lambda number: Figure(
            f"mixes.{number}", f"{number} mixed programs, total time, of MPS", "fenced", "mixes", "Mixed programs at once",
            at(f"{number} programs", "fenced/MPS"), f"≤ {mixes.BOUNDS['mps']}", f"{number} programs", front=True,
        ),
    ),
    Figure("mixes.slicing", "8 mixed programs, total time, of time-slicing", "fenced", "mixes", "Mixed programs at once",
           at("8 programs", "fenced/time-slicing"), f"≤ {mixes.BOUNDS['time-slicing']}", "8 programs", front=True),
    *_each(
        ("mask", "modulo", "check"),
        lambda mode: Figure(
            f"fences.{mode}", f"fence `{mode}` over 73 kernels, geometric mean of time over native", "fenced", "fences",
            "Fence cost, means", at(mode, "geometric mean"), front=True,
        ),
    ),
    Figure("fences.worst", "fence `mask`, worst kernel, time over native", "fenced", "fences", "Fence cost, means", at("mask", "worst")),
    Figure("fences.equal", "kernels with equal results, fenced by each mode", "fenced", "fences", "Fence cost, time", no_others("results equal"), "= yes"),
    *_each(
        (
            (mode, key, what, pick, asked)
            for mode in ("mask", "modulo", "check")
            for key, what, pick, asked in (
                ("held", "that held", share("so", "held"), ""),
                ("escapes", "that read or changed a neighbour's memory", count("so", "ESCAPE"), "= 0"),
                ("disturbed", "that disturbed a neighbour or had it wait for seconds", count("so", "DISTURBED"), "= 0"),
            )
        ),
        lambda one: Figure(
            f"attacks.{one[0]}.{one[1]}", f"attacks by `{one[0]}` {one[2]}", "fenced", "attacks", f"Attacks on a neighbour, fenced by {one[0]}",
            one[3], one[4], one[0], counts=True, front=True,
        ),
    ),
    Figure("reach.escapes", "kinds of instruction of fenced machine code that reached a neighbour", "fenced", "reach", "Machine code that reaches",
           lambda table: sum(1 for one in table.rows if one[0] == "fenced" and one[2]), "= 0", counts=True, front=True),
    Figure("reach.tried", "kinds of instruction of fenced machine code that were tried", "fenced", "reach", "Machine code that reaches",
           lambda table: sum(1 for one in table.rows if one[0] == "fenced"), counts=True),
    Figure("reach.control", "the same without fences that reached it, of those tried", "unfenced", "reach", "Machine code that reaches",
           lambda table: sum(1 for one in table.rows if one[0] != "fenced" and one[2]) / max(1, sum(1 for one in table.rows if one[0] != "fenced")), "= 1", counts=True),
    Figure("endless.ended", "kinds of endless kernel of machine code that ended without a restart, with the neighbour undisturbed, of those tried", "fenced", "endless",
           "Endless machine code", lambda table: sum(1 for one in table.rows if one[1] and one[3]) / len(table.rows) if len(table.rows) >= ENDLESS_KINDS else None, "= 1"),
    Figure("strays.noticed", "stray writes of machine code that their program hears of at its next synchronisation, with the neighbour undisturbed, of those tried", "fenced", "strays",
           "Stray writes", lambda table: sum(1 for one in table.rows if one[2] and one[3]) / max(1, len(table.rows)), "= 1"),
    Figure("faults.contained", "kinds of fault of machine code that leave a neighbour undisturbed, of those tried", "fenced", "machine_faults",
           "Faults of machine code", lambda table: sum(1 for one in table.rows if one[3]) / max(1, len(table.rows)), "= 1"),
    Figure("odd_calls.felt", "odd sequences of calls that end the executor or disturb a neighbour", "fenced", "odd_calls",
           "Odd sequences of calls, counted", at("end the executor or disturb a neighbour, by relay", "cases"), "= 0", counts=True, front=True),
    Figure("odd_calls.tried", "odd sequences of calls tried beside a neighbour", "fenced", "odd_calls", "Odd sequences of calls, counted",
           at("tried by relay", "cases"), counts=True),
    Figure("odd_calls.native", "odd sequences of calls that end their own process by a signal natively", "unfenced", "odd_calls",
           "Odd sequences of calls, counted", at("end their process by a signal natively", "cases"), counts=True),
    Figure("grids.first", "a newcomer's first kernel beside a grid of ours that takes 12 s, from PTX, by relay, ms", "fenced", "grids", "A grid that takes long",
           at("relay", "first kernel, ms"), "", "relay"),
    Figure("grids.p99", "the same, 99th percentile of 300 more kernels, ms", "fenced", "grids", "A grid that takes long", at("relay", "p99"), "≤ 5", "relay"),
    Figure("grids.kept", "the same, what the grid keeps of its speed", "fenced", "grids", "A grid that takes long", at("relay", "kept beside"), "≥ 0.97", "relay"),
    Figure("handover", "hand-over of a turn, gpt+gpt, median ms", "turns", "handover", "Hand-over", at("gpt+gpt", "median hand-over, ms"), f"≤ {handover.BOUND_MS:g}", "gpt+gpt", front=True),
    Figure("gate", "a launch through the open gate, ns more than the driver's own", "turns", "overhead", "The gate of",
           lambda table: table.rows[0][table.columns.index("difference, ns")]),
    Figure("run", "`tessera run true`, ms more than `true`", "turns", "overhead", "Starting a program",
           lambda table: next((one[3] for one in table.rows if "run" in one[0]), None), f"≤ {overhead.RUN_BOUND_MS:g}"),
    Figure("fairness", "two equal tenants under `auto`, distance from equal work over 1 s, median", "turns", "fairness", "Fairness of two",
           at("auto", "median"), "", "auto"),
    Figure("ops.different", "cases of PyTorch's operators that are wrong or end with an error, by relay, alone and beside another (float32)", "partly fenced",
           "ops", "PyTorch's operators", lambda table: _of_operators(table, True, "different", "errors"), "= 0"),
    Figure("ops.cases", "cases of PyTorch's operators compared, over all ways", "partly fenced", "ops", "PyTorch's operators",
           lambda table: _of_operators(table, False, "cases") - _of_operators(table, False, "not reached")),
    Figure("programs", "our CUDA programs by relay with outputs equal to native", "partly fenced", "programs", "Our programs", no_others("outputs equal"), "= yes"),
    Figure("fullsize", "two servers of 0.75 of the GPU, longest time without progress, s", "turns", "fullsize", "Servers at full size",
           most("longest without progress, s", "two servers"), "", "two servers"),
    Figure("fullsize.two.p95", "two servers of 0.75 of the GPU that use 2 GiB each: 95th percentile of a request, s", "turns", "fullsize", "Servers at full size",
           most("95th percentile, s", "two servers"), "≤ 0.5", "two servers"),
    Figure("fullsize.two.longest", "the same, longest request, s", "turns", "fullsize", "Servers at full size", most("longest, s", "two servers"), "≤ 2", "two servers"),
    Figure("fullsize.three.p95", "three servers of 0.9 of the GPU: 95th percentile of a request, s", "turns", "fullsize", "Servers at full size",
           most("95th percentile, s", "three of 0.9"), "≤ 1", "three of 0.9"),
    Figure("fullsize.three.longest", "the same, longest request, s", "turns", "fullsize", "Servers at full size", most("longest, s", "three of 0.9"), "≤ 4", "three of 0.9"),
    Figure("fullsize.relay.two.p95", "the two servers by relay: 95th percentile of a request, s", "partly fenced", "fullsize", "Servers at full size",
           most("95th percentile, s", "two servers by relay"), "≤ 0.5", "two servers by relay"),
    Figure("fullsize.relay.two.longest", "the same, longest request, s", "partly fenced", "fullsize", "Servers at full size",
           most("longest, s", "two servers by relay"), "≤ 2", "two servers by relay"),
    Figure("fullsize.relay.three.p95", "the three servers by relay: 95th percentile of a request, s", "partly fenced", "fullsize", "Servers at full size",
           most("95th percentile, s", "three of 0.9 by relay"), "≤ 1", "three of 0.9 by relay"),
    Figure("fullsize.relay.three.longest", "the same, longest request, s", "partly fenced", "fullsize", "Servers at full size",
           most("longest, s", "three of 0.9 by relay"), "≤ 4", "three of 0.9 by relay"),
    Figure("models.first", "three servers of language models, asked in turn: first token, median, of 1.15 × content / bandwidth + 0.1 s", "turns", "preallocated",
           MODELS, of_asked("language models", "tessera", "first token, median s", "asked: 1.15 × content / bandwidth + 0.1 s"), "≤ 1", "language models"),
    Figure("models.out", "the same, moves out, median s", "turns", "preallocated", MODELS, of_row("language models", "tessera", "move out, median s"), "≤ 0.15",
           "language models"),
    Figure("models.tokens", "the same, answers with tokens that no native answer has", "turns", "preallocated", MODELS,
           of_row("language models", "tessera", "answers that are none of the native ones"), "= 0", "language models"),
    Figure("beside.gemm", "a small model's p99 beside a GEMM of 16384³, by relay, of alone", "partly fenced", "beside", BESIDE_ASKED, beside(GEMM, "relay"), "≤ 1.5", "gemm"),
    Figure("beside.gemm.interactive", "the same, class interactive", "partly fenced", "beside", BESIDE_ASKED, beside(GEMM, "relay, interactive"), "≤ 1.3", "gemm"),
    Figure("beside.training", "a small model's p99 beside a training, by relay, of alone", "partly fenced", "beside", BESIDE_ASKED, beside(TRAINING, "relay"), "≤ 1.5", "training"),
    Figure("beside.training.interactive", "the same, class interactive", "partly fenced", "beside", BESIDE_ASKED, beside(TRAINING, "relay, interactive"), "≤ 1.3",
           "training"),
    Figure("beside.stream", "a small model's p99 beside streaming, by relay, of MPS with the heavy one at 75 %", "partly fenced", "beside", BESIDE_ASKED,
           beside(STREAM, "relay"), "≤ 1.1", "stream"),
    Figure("beside.turns", "a small model's p99 beside a GEMM of 16384³ in turns, of time-slicing", "turns", "beside", BESIDE_ASKED, beside(GEMM, "turns"), "≤ 1.1", "gemm"),
    Figure("suspend", "8 GiB leave the GPU whole (`evict --suspend`), s", "turns", "suspend", "A tenant leaves",
           lambda table: next((one[3] for one in table.rows if "suspend" in one[0]), None)),
    Figure("notebooks", "eight notebooks of 0.4 of the memory, wait of a first call, median s", "turns", "oversub", "Notebooks",
           lambda table: table.rows[0][2], "", "notebooks"),
    Figure("oversub.fits", "two that fit under plan `swap`, of native at once", "turns", "oversub", "Two that fit", lambda table: table.rows[0][2]),
]
