"""Programs that allocate most of the GPU ahead, as people have them: servers of language models, and JAX with its defaults.

No ``--capacity``. Servers have weights that never change, a conversation that does not either, and memory that they never
write; requests come to them in turn, so that each has to come in for its own.
"""

import json
import os
import time

from harness.bandwidth import pinned_bandwidth
from harness.bench import Bench, native, under_relay, under_tessera
from harness.child import Child, ChildFailed
from harness.figures import quantile
from harness.table import Table
from harness.tessera import Manager
from harness.timeline import moves, read

GIB = 1 << 30
SERVERS = 3
SHARE = 0.85
TOKENS = 16
ROUNDS = 6
READY_S = 90.0
REQUEST_S = 60.0
#: Weights and conversation of a server (workloads/language_model.py).
CONTENT_BYTES = 17.1e9
JAX_S = 60.0
#: Case: seconds that it takes.
CASES = {"language models": 120, "two of JAX": 45, "two of JAX by relay": 45, "language models by relay": 120}


def run(setting, record):
    """Each case natively, then with a manager of its own."""
    for case in setting.chosen(CASES):
        work = _models if "models" in case else _jax
        record.attempt(case, lambda: work(setting, record, case), CASES[case])


def _place(case, manager):
    return under_relay(manager) if case.endswith("by relay") else under_tessera(manager, "auto")


def _models(setting, record, case):
    with Bench(setting.workloads, setting.directory) as bench:
        ready_s, answers = _answers(bench, case, native(), 0, ROUNDS)
    bandwidth = pinned_bandwidth()
    record.add("models", case=case, way="native", ready_s=ready_s, answers=answers)
    # A near tie may go either way, natively, too: an answer is right if it is one of the native ones.
    expected = [{tuple(one["tokens"]) for one in answers if one["server"] == server} for server in range(SERVERS)]
    trace = os.path.join(setting.directory, f"{case}.trace".replace(" ", "-"))
    with Manager(setting.installation, setting.directory, {"TESSERA_MOVE_TRACE": trace}) as manager:
        with Bench(setting.workloads, setting.directory) as bench:
            ready_s, answers = _answers(bench, case, _place(case, manager), SHARE, ROUNDS)
            status = manager.tessera("status")[1].splitlines()[:25]
    begun_ns = answers[SERVERS]["begun_ns"]
    found = [move for move in moves(read(trace), 0) if move.begin_ns >= begun_ns and _pages(move) >= GIB]
    lengths = [(move.out, (move.end_ns - move.begin_ns) / 1e9, _pages(move), move.bytes) for move in found]
    wrong = sum(tuple(one["tokens"]) not in expected[one["server"]] for one in answers)
    record.add("models", case=case, way="tessera", ready_s=ready_s, answers=answers, moves=lengths, bandwidth=bandwidth, wrong=wrong, status=status)
    if wrong:
        record.problem(case, f"{wrong} of {len(answers)} answers have tokens that no native answer has")


def _pages(move):
    """Bytes whose pages it gave up or made."""
    return sum(event.bytes for event in move.events if event.what == ("emptied" if move.out else "filled"))


def _answers(bench, case, place, share, rounds):
    """Until all are ready; for each request its server, the time to its first token and to its last, and its tokens."""
    begun = time.monotonic()
    servers = [
        bench.start(place, "language_model", name=f"{case}-{place.name}-{i}".replace(" ", "-"), ready_timeout_s=READY_S,
                    environment={"LM_SHARE": str(share), "LM_SEED": str(i), "LM_TOKENS": str(TOKENS)})
        for i in range(SERVERS)
    ]  # fmt: skip
    for server in servers:
        server.ready()
        server.steps(TOKENS - 10 % TOKENS, REQUEST_S)  # ends the request that its warm-up began
    ready_s = time.monotonic() - begun
    answers = []
    for number in range(rounds * SERVERS):
        server = servers[number % SERVERS]
        begun_ns = time.monotonic_ns()
        first = server.steps(1, REQUEST_S)
        first_s = (time.monotonic_ns() - begun_ns) / 1e9
        rest = server.steps(TOKENS - 1, REQUEST_S)
        whole_s = (time.monotonic_ns() - begun_ns) / 1e9
        answers.append({"server": number % SERVERS, "begun_ns": begun_ns, "first_s": first_s, "whole_s": whole_s, "tokens": first["losses"] + rest["losses"]})
    return ready_s, answers


def _jax(setting, record, case):
    alone = _programs(setting, native(), case, 1)
    record.add("jax", case=case, way="native", programs=alone)
    with Manager(setting.installation, setting.directory) as manager:
        record.add("jax", case=case, way="two", programs=_programs(setting, _place(case, manager), case, 2))


def _programs(setting, place, case, count):
    """Of each program: seconds, those on the GPU, the longest time without a line, its digest."""
    children = []
    command = ["python3", os.path.join(setting.workloads, "frameworks", "jax_program.py")]
    try:
        for i in range(count):
            label = f"{case}-{place.name}-{i}".replace(" ", "-")
            log = os.path.join(setting.directory, f"{label}.log")
            children.append((Child(label, place.wrap(command, label), dict(place.environment), log), []))
        _follow(children)
    finally:
        for child, _ in children:
            child.close()
    return [_of_lines(lines) for _, lines in children]


def _follow(children):
    """Reads all lines with the time at which each came, until every program has said that it is done."""
    begun = time.monotonic()
    waiting = list(children)
    while waiting:
        for one in list(waiting):
            child, lines = one
            try:
                line = child.read(0.02)
            except ChildFailed:
                if child.wait(0) is not None or time.monotonic() - begun > JAX_S:
                    raise
                continue
            if line.startswith("{"):
                said = json.loads(line)
                lines.append((time.monotonic() - begun, said))
                if said["event"] == "done":
                    waiting.remove(one)


def _of_lines(lines):
    # The first tick tells that the device was found; before it Python loads JAX.
    at = [at for at, _ in lines]
    last = lines[-1][1]
    return {"seconds": at[-1], "busy_s": last["busy_s"], "digest": last["digest"], "silent_s": max(b - a for a, b in zip(at, at[1:]))}


def tables(results):
    """Times of requests and programs."""
    return [table for table in (_model_table(results), _jax_table(results)) if table]


def _model_table(results):
    rows, notes = [], []
    for one in results:
        if one["kind"] != "models":
            continue
        steady = one["answers"][SERVERS:] or one["answers"]
        first = [answer["first_s"] for answer in steady]
        out = [seconds for left, seconds, _, _ in one.get("moves", ()) if left]
        bandwidth = one.get("bandwidth", {}).get("in")
        bound = 1.15 * CONTENT_BYTES / bandwidth + 0.1 if bandwidth else None
        rows.append((one["case"], one["way"], one["ready_s"], len(steady), quantile(first, 0.5), max(first), bound,
                     quantile(out, 0.5) if out else None, max(out, default=None), one.get("wrong")))  # fmt: skip
        if one.get("moves"):
            for left in (True, False):
                moved = [(pages / GIB, copied / GIB) for was_out, _, pages, copied in one["moves"] if was_out == left]
                gave = sum(pages for pages, _ in moved)
                notes.append(f"{one['case']}: {len(moved)} moves {'out' if left else 'in'}, of {gave:.1f} GiB, {sum(copied for _, copied in moved):.1f} GiB copied or cleared")
        notes += [f"{one['case']}: `{line}`" for line in one.get("status", ())]
    columns = ("case", "way", "all ready, s", "requests", "first token, median s", "longest, s", "asked: 1.15 × content / bandwidth + 0.1 s",
               "move out, median s", "longest out, s", "answers that are none of the native ones")  # fmt: skip
    return Table("Servers of language models", columns, tuple(rows), tuple(notes)) if rows else None


def _jax_table(results):
    rows = []
    for case in CASES:
        found = {one["way"]: one["programs"] for one in results if one["kind"] == "jax" and one["case"] == case}
        if len(found) < 2:
            continue
        alone = found["native"][0]
        bound = (1 + alone["busy_s"] / alone["seconds"]) * alone["seconds"] + 1
        for i, program in enumerate(found["two"]):
            rows.append((case, i + 1, alone["seconds"], alone["busy_s"], program["seconds"], bound, program["silent_s"], program["digest"] == alone["digest"]))
    columns = ("case", "program", "alone natively, s", "of that on the GPU, s", "beside the other, s", "asked: (1 + share on the GPU) × alone + 1 s",
               "longest without a line, s", "result equal")  # fmt: skip
    return Table("Programs of JAX", columns, tuple(rows), ("each with 0.75 of the device preallocated",)) if rows else None
