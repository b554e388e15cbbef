"""Every answer that may decide what a library does: natively, in turns and by relay; what differs, less what is meant to.

Beside it, which of a library's codes is taken: its results say so.
"""

import json
import os
import sys

from harness import trace_diff
from harness.answers import allowances, compare
from harness.bench import Placement, native, under_relay, under_tessera
from harness.child import ChildFailed, run_bounded
from harness.table import Table
from harness.tessera import Manager

TIMEOUT_S = 120
#: Of the second part: programs whose calls are traced in turns, which answers as the driver does, and by relay.
TRACED = ("fft", "linalg", "matmul", "convolution", "elementwise")
#: cuFFT without PyTorch, the same transforms as CODE's.
PLANS = "plans"
#: Libraries' machine code natively, their text natively, and what each way takes: the same transforms by the same library.
CODE = "code"
SHOWN = 80


def run(setting, record):
    """Natively twice, then each way; then the traces."""
    chosen = setting.chosen(("answers", CODE, PLANS, *TRACED))
    found = {}
    with Manager(setting.installation, setting.directory) as manager:
        ways = [
            ("native", native()), ("native again", native()), ("turns", under_tessera(manager, "auto")), ("space", under_relay(manager)),
            ("fenced", _fenced(manager)),
        ]  # fmt: skip
        if "answers" in chosen:
            for name, place in ways:
                record.attempt(name, lambda: found.update({name: _answers(setting, name, place)}), 10)
            record.attempt("comparison", lambda: _compare(record, found))
        if CODE in chosen:
            text = Placement("native, from text", {**native().environment, "CUDA_FORCE_PTX_JIT": "1"})
            for name, place in [*ways[:2], (text.name, text), *ways[2:]]:
                record.attempt(f"{CODE}, {name}", lambda: _digests(setting, record, name, place), 10)
        for program in (name for name in (PLANS, *TRACED) if name in chosen):
            record.attempt(program, lambda: _trace(setting, record, manager, program), 40)


def _fenced(manager):
    """By relay with fences, which a program that is alone does not have otherwise."""
    return Placement(
        "fenced", manager.environment, lambda command, name: manager.wrap(command, name=name, share="space", options=("--fence-alone",))
    )


def _run(setting, label, place, command, extra=None):
    status, out, err = run_bounded(place.wrap(command, label), {**place.environment, **(extra or {})}, TIMEOUT_S)
    with open(os.path.join(setting.directory, f"{label}.log"), "w", encoding="utf-8") as log:
        log.write(err)
    if status != 0:
        raise ChildFailed(f"{label} ended with {status}: {err.strip()[-400:]}")
    return out


def _answers(setting, name, place):
    label = "answers-" + name.replace(" ", "-")
    # The kit holds them; in the tree they are the description's.
    names = setting.installation.path("workloads", "driver.names")
    out = _run(setting, label, place, [sys.executable, os.path.join(setting.workloads, "answers.py"), "--names", names])
    line = next((line for line in out.splitlines() if line.startswith('{"answers"')), None)
    if line is None:
        raise ChildFailed(f"{label} printed no answers")
    answers = json.loads(line)["answers"]
    with open(os.path.join(setting.directory, f"{label}.json"), "w", encoding="utf-8") as file:
        json.dump(answers, file, indent=0)
    return answers


def _digests(setting, record, name, place):
    label = "code-" + name.replace(",", "").replace(" ", "-")
    out = _run(setting, label, place, [sys.executable, os.path.join(setting.workloads, "fft_bits.py")])
    line = next((line for line in out.splitlines() if line.startswith('{"digests"')), None)
    if line is None:
        raise ChildFailed(f"{label} printed no digests")
    record.add("code", way=name, digests=json.loads(line)["digests"])


def _compare(record, found):
    known, used = allowances(), set()
    natives = (found["native"], found["native again"])
    for way in (name for name in ("turns", "space", "fenced") if name in found):
        result = compare(way, natives, found[way], known)
        used |= result.used
        record.add("answers", way=way, questions=result.questions, equal=result.equal, allowed=result.allowed,
                   different=result.different, unsteady=result.unsteady)  # fmt: skip
    idle = [f"{','.join(one.ways)} {one.questions}" for one in known if one not in used]
    record.add("allowances", total=len(known), idle=idle)


def _trace(setting, record, manager, program):
    traces = {}
    for name, place in (("turns", under_tessera(manager, "auto")), ("space", under_relay(manager))):
        path = os.path.join(setting.directory, f"{program}-{name}.calls")
        script = ["fft_bits.py"] if program == PLANS else ["answer_programs.py", program]
        command = [sys.executable, os.path.join(setting.workloads, script[0]), *script[1:]]
        _run(setting, f"{program}-{name}", place, command, {"TESSERA_TRACE": path, "PYTORCH_KERNEL_CACHE_PATH": setting.directory})
        traces[name] = trace_diff.read(path)
        if program != PLANS:
            os.unlink(path)  # the logs travel, and these are large
    found = trace_diff.differences(traces["turns"], traces["space"])
    record.add("trace", program=program, calls=[len(traces["turns"]), len(traces["space"])], **found)


def _codes(runs):
    """Which results of one library are equal to which native ones: a letter for each different one."""
    if not runs:
        return []
    rows, shapes = [], list(runs[0]["digests"])
    for shape in shapes:
        letters = {}
        rows.append((shape, *(letters.setdefault(run["digests"].get(shape), chr(ord("a") + len(letters))) for run in runs)))
    note = "cuFFT in place, equal letters: equal to the last bit; from text: CUDA_FORCE_PTX_JIT=1, as an executor takes what it fences"
    return [Table("Results by the code that is taken", ("shape", *(run["way"] for run in runs)), tuple(rows), (note,))]


def tables(results):
    """How many differ, which, and where the programs' calls part."""
    made = []
    answers = [one for one in results if one["kind"] == "answers"]
    if answers:
        rows = tuple(
            (one["way"], one["questions"], one["equal"], sum(one["allowed"].values()), len(one["unsteady"]), len(one["different"]))
            for one in answers
        )
        notes = [f"{one['way']}: {count} because {reason}" for one in answers for reason, count in one["allowed"].items()]
        for one in (one for one in results if one["kind"] == "allowances" and one["idle"]):
            notes.append(f"allowed, but equal: {'; '.join(one['idle'])}")
        columns = ("way", "questions", "equal", "meant to differ", "different natively", "different")
        made.append(Table("Answers against the driver's", columns, rows, tuple(notes)))
        rows = tuple((question, one["way"], native_one, other) for one in answers for question, native_one, other in one["different"])
        if rows:
            more = (f"{len(rows) - SHOWN} more in the raw record",) if len(rows) > SHOWN else ()
            made.append(Table("Answers that differ", ("question", "way", "native", "this way"), rows[:SHOWN], more))
    made += _codes([one for one in results if one["kind"] == "code"])
    traces = [one for one in results if one["kind"] == "trace"]
    if traces:
        rows = tuple((one["program"], *one["calls"], one["questions"], len(one["answers"]), one["parted"] or "nowhere") for one in traces)
        notes = tuple(f"{one['program']}: {what}" for one in traces for what in one["answers"][:12])
        columns = ("program", "calls in turns", "by relay", "questions in both", "answered otherwise", "launches part")
        made.append(Table("Traces of programs", columns, rows, notes))
    return made
