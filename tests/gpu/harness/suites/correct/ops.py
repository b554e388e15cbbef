"""PyTorch's databases of operators, modules and optimizers: every result natively, in turns, by relay, and by two at once.

A case is one operator, module or optimizer with one type and up to ``--set samples=N`` inputs. Native runs are the measure:
what is equal among them has to be equal to the last bit, anything else within bounds.
"""

import concurrent.futures
import os
import shutil

from harness.bench import native, under_relay, under_tessera
from harness.figures import number
from harness.operators import Comparison, Run
from harness.table import Table
from harness.tessera import Manager

#: ``--set`` takes these; the machine with the GPU is meant by ``cuda``.
OPTIONS = {"samples": 4, "dtypes": "", "shard": "1/1", "skip": 0, "device": "cuda"}
#: The suite's own: whether both native runs, and then turns beside relay, run at the same time. First uses are not compared then.
TOGETHER = "together"
#: The suite's own: natively and by relay alone, each once with no code kept by anybody and once, in new processes, with what was kept.
USES = "uses"
#: Way, and whether it runs the cases from the last to the first: two at once should not do the same at the same time.
WAYS = (("turns", False), ("relay", False), ("relay, two at once", False), ("relay, two at once, reversed", True))
#: Of the time that is left, what the first native run may have: there are two of them, two ways, two at once, and looking again.
FIRST_SHARE = 1 / 5.5
#: The same where they run together.
TOGETHER_SHARE = 1 / 3.5
NATIVE = ("native", "native-again")
AGAIN_S = 60.0
#: Looked at once more: a command line holds no more names.
SUSPECTS = 1500
#: A first use should take no longer than this against native.
FIRST_USE_RATIO, FIRST_USE_MS = 1.5, 200.0
LISTED = 15
#: Verdicts that name a case.
NAMED = ("inexact", "different", "error", "inputs", "missing")


def run(setting, record):
    """Native runs first: they say how far the others go."""
    words, together = _words(setting), setting.option(TOGETHER, "0") == "1"
    natives, runs = [], {}
    step = Step(setting, record, natives, runs)
    if setting.option(USES, "0") == "1":
        _uses(setting, record, step, words)
        return
    first_s = record.remaining_s() * (TOGETHER_SHARE if together else FIRST_SHARE)
    if together:
        record.attempt("native, twice", lambda: _at_once(*(lambda label=label: step.native(label, words, first_s) for label in NATIVE)))
    else:
        record.attempt(NATIVE[0], lambda: step.native(NATIVE[0], words, first_s))
    if not natives:
        return
    # Whatever was not reached natively is nobody's.
    words = [*words, f"--count={min(len(one.cases) for one in natives)}"]
    if not together:
        record.attempt("native again", lambda: step.native(NATIVE[1], words, record.remaining_s() / 4.5))
    with Manager(setting.installation, setting.directory) as manager:
        turns, relay = under_tessera(manager, "auto"), under_relay(manager)
        if together:
            bound_s = record.remaining_s() / 2.5
            record.attempt("turns, relay", lambda: _at_once(
                lambda: step.way("turns", turns, words, bound_s), lambda: step.way("relay", relay, words, bound_s)))  # fmt: skip
        else:
            record.attempt("turns", lambda: step.way("turns", turns, words, record.remaining_s() / 3.5))
            record.attempt("relay", lambda: step.way("relay", relay, words, record.remaining_s() / 2.5))
        record.attempt("relay, two at once", lambda: step.two(relay, words, max(60.0, record.remaining_s() - AGAIN_S)))
        suspects = step.suspects()
        if suspects:
            record.attempt("again", lambda: step.again(relay, words, suspects), 20)
    _judge(record, natives, runs)
    if not together:
        for way in ("turns", "relay"):
            if way in runs:
                _first_uses(record, way, natives[1] if len(natives) > 1 else natives[0], runs[way])
    _clear(setting.directory)


def _uses(setting, record, step, words):
    """First uses alone. Executors start again; Tessera's code, the driver's and PyTorch's own are kept in folders of this run."""
    natives, runs = step.natives, step.runs
    record.attempt(NATIVE[0], lambda: step.native(NATIVE[0], words, record.remaining_s() / 7))
    if not natives:
        return
    words = [*words, f"--count={len(natives[0].cases)}"]
    record.attempt(NATIVE[1], lambda: step.native(NATIVE[1], words, record.remaining_s() / 5, NATIVE[0]))
    kept = {"TESSERA_CACHE_DIR": os.path.join(setting.directory, "code"), "CUDA_CACHE_PATH": os.path.join(setting.directory, "code", "driver")}
    for way, share in (("relay, no code kept", 1.8), ("relay, code kept", 1.0)):
        with Manager(setting.installation, setting.directory, kept) as manager:
            place = under_relay(manager)
            record.attempt(way, lambda: step.way(way, place, words, record.remaining_s() / share, "relay"))
    _judge(record, natives, runs)
    for way, native_run in zip(("relay, no code kept", "relay, code kept"), natives):
        if way in runs:
            _first_uses(record, way, native_run, runs[way])
    shutil.rmtree(kept["TESSERA_CACHE_DIR"], ignore_errors=True)
    _clear(setting.directory)


def _at_once(*parts):
    """Runs all; the first one's failure is raised after the last has ended."""
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        begun = [pool.submit(part) for part in parts]
    for one in begun:
        one.result()


def _clear(directory):
    """What the logs should not hold when they travel: every value of every run, and compiled kernels."""
    for name in os.listdir(directory):
        if name.endswith(".values"):
            os.unlink(os.path.join(directory, name))
        elif name.startswith("kernels-"):
            shutil.rmtree(os.path.join(directory, name))


def _words(setting):
    unknown = set(setting.options) - {*OPTIONS, TOGETHER, USES}
    if unknown:
        raise ValueError(f"--set {', '.join(sorted(unknown))}: this suite takes {', '.join([*OPTIONS, TOGETHER, USES])}")
    words = [f"--{name}={value}" for name, value in setting.options.items() if name not in (TOGETHER, USES)]
    return words + [f"--only={','.join(setting.only)}"] if setting.only else words


class Step:
    """The runs of one suite."""

    def __init__(self, setting, record, natives, runs):
        self._setting = setting
        self._record = record
        self.natives = natives
        self.runs = runs

    def native(self, label, words, budget_s, kernels=None):
        """One more native run."""
        self.natives.append(self._run(native(), label, words, budget_s, kernels))

    def way(self, way, place, words, budget_s, kernels=None):
        """All cases in one way."""
        self.runs[way] = self._run(place, way.replace(", ", "-").replace(" ", "-"), words, budget_s, kernels)

    def two(self, place, words, budget_s):
        """All cases by two programs at once."""
        _at_once(*(
            lambda way=way, reverse=reverse: self.way(way, place, words + ["--reverse"] * reverse, budget_s)
            for way, reverse in WAYS
            if way.startswith("relay, two")
        ))  # fmt: skip

    def _run(self, place, label, words, budget_s, kernels=None):
        run = Run(self._setting, place, label, words, kernels or label)
        try:
            return run.run(budget_s)
        finally:
            answers = run.answers
            ended = {name: one["ended"] for name, one in answers.cases.items() if one["ended"]}
            self._record.add("run", run=label, cases=answers.total, reached=len(answers.cases), start_ms=answers.start_ms, ended=ended)

    def suspects(self):
        """Cases that some way has otherwise than the native runs."""
        judge = Comparison(self.natives)
        found = set()
        for run in self.runs.values():
            for name in self.natives[0].cases:
                if judge.case(run, name)[0] in ("inexact", "different", "error"):
                    found.add(name)
        return sorted(found)

    def again(self, relay, words, suspects):
        """Native runs of these cases alone: perhaps they differ among themselves after all. And one more by relay."""
        # They are whole names, which hold no comma and nothing that stands for anything else.
        words = [word for word in words if not word.startswith(("--only", "--shard", "--skip", "--count"))]
        only = [*words, f"--only={','.join(suspects[:SUSPECTS])}"]
        budget_s = max(AGAIN_S / 2, self._record.remaining_s() / 3)
        for turn in (1, 2):
            self.native(f"native-suspects-{turn}", only, budget_s)
        self.way("relay, suspects alone", relay, only, budget_s)


def _judge(record, natives, runs):
    judge = Comparison(natives)
    for way, run in runs.items():
        counts, unsteady = dict.fromkeys(Comparison.VERDICTS, 0), []
        alone = way.endswith("alone")
        for name in run.cases if alone else natives[0].cases:
            verdict, what = judge.case(run, name)
            counts[verdict] += 1
            if verdict in NAMED:
                record.add("case", way=way, case=name, verdict=verdict, what=what)
            elif verdict == "close" and isinstance(what, dict) and not (what["natively"] or 2) <= 1:
                unsteady.append(name)
        record.add("way", way=way, cases=sum(counts.values()), unsteady=unsteady, **counts)
    errors = {name: one["errors"][0][1:] for name, one in natives[0].cases.items() if not one["ended"] and one["errors"]}
    record.add("natively", errors=len(errors), classes=sorted({kind for kind, _ in errors.values()}),
               empty=sorted(name for name, one in natives[0].cases.items() if not one["ended"] and not one["inputs"]))  # fmt: skip


def _first_uses(record, way, native_run, run):
    """What a case's first sample took, where that is much longer than natively."""
    slow, sums, count = [], [0.0, 0.0], 0
    for name, one in run.cases.items():
        base = native_run.cases.get(name, {}).get("first_ms")
        if base is None or one.get("first_ms") is None:
            continue
        count += 1
        sums = [sums[0] + base, sums[1] + one["first_ms"]]
        if one["first_ms"] > FIRST_USE_RATIO * base + FIRST_USE_MS:
            slow.append((name, base, one["first_ms"]))
    slow.sort(key=lambda one: one[1] - one[2])
    record.add("first", way=way, cases=count, native_ms=sums[0], ms=sums[1], late=len(slow), slowest=slow[:LISTED])


def tables(results):
    """A row a way; then what differs, and what was slow at its first use."""
    return [table for table in (_ways(results), _cases(results), _slow(results)) if table is not None]


def _of(results, kind):
    return [one for one in results if one["kind"] == kind]


def _ways(results):
    rows = [
        (one["way"], one["cases"], one["equal"], one["close"], one["inexact"], one["different"], one["error"] + one["inputs"], one["missing"])
        for one in _of(results, "way")
    ]
    if not rows:
        return None
    notes = [
        "close: not equal natively either, and within the bounds; inexact: within the bounds, but native runs are equal to the last bit",
        "errors: another class of error than natively, or none, or the program ended",
    ]
    for one in _of(results, "way"):
        if one["unsteady"]:
            notes.append(f"{one['way']}: {len(one['unsteady'])} of the close differ natively by more than the bounds: {', '.join(one['unsteady'][:8])}")
    for one in _of(results, "natively"):
        notes.append(f"natively {one['errors']} cases give an error ({', '.join(one['classes'])}); {len(one['empty'])} have no samples")
    for one in _of(results, "run"):
        short = f"; reached {one['reached']} of {one['cases']}" if one["reached"] < one["cases"] else ""
        if short or one["ended"]:
            notes.append(f"{one['run']}: {len(one['ended'])} cases ended their process{short}")
    columns = ("way", "cases", "equal", "close", "inexact", "different", "errors", "not reached")
    return Table("PyTorch's operators, modules and optimizers", columns, tuple(rows), tuple(notes))


def _cases(results):
    rows = []
    for one in _of(results, "case"):
        what = one["what"]
        if isinstance(what, dict):
            excess = "no bound" if what["excess"] is None else f"{what['excess']:.2g}"
            what = (f"sample {what['sample']}, {what['output']}, {what['type']} {what['shape']}: {what['differ']} differ, "
                    f"at {what['at']} {what['got']} instead of {what['native']}, × bound {excess}") if "differ" in what else str(what)  # fmt: skip
        rows.append((one["case"], one["way"], one["verdict"], what))
    shown = sorted(rows, key=lambda row: (row[2], row[0]))[:60]
    notes = (f"{len(rows) - len(shown)} more in the raw record",) if len(rows) > len(shown) else ()
    return Table("What is not as natively", ("case", "way", "verdict", "what"), tuple(shown), notes) if rows else None


def _slow(results):
    rows, notes = [], []
    for one in _of(results, "first"):
        notes.append(
            f"{one['way']}: first uses of {one['cases']} cases together {number(one['ms'] / 1000)} s, natively "
            f"{number(one['native_ms'] / 1000)} s; {one['late']} beyond {FIRST_USE_RATIO} × native + {FIRST_USE_MS / 1000} s"
        )
        rows += [(name, one["way"], base, took, took / base if base else None) for name, base, took in one["slowest"]]
    if not notes:
        return None
    return Table("Slow first uses", ("case", "way", "native, ms", "this way, ms", "ratio"), tuple(rows), tuple(notes))
