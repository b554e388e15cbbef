"""Odd sequences of driver calls with valid handles: which end or hang their process natively, and which end the executor by relay.

Natively each is a process of its own. By relay they run one after the other beside a neighbour in the same executor, which computes all the
time. It is started anew where it or the executor has ended.
"""

import concurrent.futures
import os
import signal
import time

from harness.bench import native, under_relay
from harness.child import Child, ChildFailed, run_bounded
from harness.table import Table
from harness.tessera import Manager

#: A case that goes on for longer hangs.
LIMIT_S = 10
#: Native cases at once: each has a context of its own.
AT_ONCE = 6
#: The neighbour's start, with the executor's.
START_S = 60
#: The neighbour's answer. A round of it takes some milliseconds.
ANSWER_S = 10
#: A neighbour whose round takes longer was held up.
HELD_UP_MS = 2000


def run(setting, record):
    """All cases natively, several at once, then all by relay."""
    program = setting.installation.path("programs", "odd_calls")
    status, out, err = run_bounded([program, "--list"], native().environment, LIMIT_S)
    if status != 0:
        record.problem("cases", f"ended with {status}: {err.strip()[-400:]}")
        return
    names = setting.chosen([line.split("\t")[0] for line in out.splitlines()])
    record.attempt("natively", lambda: _natively(record, program, names), 15)
    record.attempt("by relay", lambda: _by_relay(setting, record, program, names), 15)


def _outcome(status, out):
    """How a case ended: done, the name of a signal, hangs, or its status."""
    if status == 124:
        return "hangs"
    if status < 0:
        return signal.Signals(-status).name
    return "done" if status == 0 and out.endswith("done\n") else f"status {status}"


def _run(command, environment):
    """What is kept of one case."""
    began = time.monotonic()
    status, out, err = run_bounded(command, environment, LIMIT_S)
    lines = out.strip().splitlines()
    context = next((line.split(": ", 1)[1] for line in lines if line.startswith("context: ")), None)
    found = {"outcome": _outcome(status, out), "seconds": round(time.monotonic() - began, 2), "last": lines[-1][-200:] if lines else "", "context": context}
    if found["outcome"] != "done":
        found["out"], found["err"] = out[-1500:], err[-500:]
    return found


def _natively(record, program, names):
    environment = native().environment
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for name, found in zip(names, pool.map(lambda case: _run([program, case], environment), names)):
            record.add("native", case=name, **found)


def _by_relay(setting, record, program, names):
    directory = os.path.join(setting.directory, "relay")
    os.makedirs(directory, exist_ok=True)
    left = list(names)
    while left:
        # A manager that starts no executor any more ends its round; the next one begins with the case that was left.
        with Manager(setting.installation, directory) as manager, _Beside(manager, program, directory) as beside:
            before = len(left)
            while left and (before == len(left) or beside.able):
                record.add("relay", case=left[0], **beside.run(left.pop(0)))
                if record.remaining_s() < LIMIT_S + ANSWER_S:
                    record.problem("by relay", f"{len(left)} cases left for want of time")
                    return


class _Beside:
    """The neighbour, and cases beside it. Use as a context manager."""

    def __init__(self, manager, program, directory):
        self._manager = manager
        self._program = program
        self._log = os.path.join(directory, "neighbour.log")
        self._environment = under_relay(manager).environment
        self._neighbour = None
        self.able = True

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *failure):
        if self._neighbour:
            self._neighbour.close()

    def _start(self):
        command = self._manager.wrap([self._program, "--neighbour"], name="neighbour", share="space")
        self._neighbour = Child("neighbour", command, self._environment, self._log)
        while self._neighbour.read(START_S) != "begun":
            pass

    def _executor(self):
        """Process id of the executor, or None."""
        return next((executor.get("pid") for executor in self._manager.control.status().get("executors", [])), None)

    def run(self, name):
        """One case; starts the neighbour anew where it ended or does not answer."""
        executor = self._executor()
        found = _run(self._manager.wrap([self._program, name], name=name, share="space"), self._environment)
        said = self._ask()
        undisturbed = said.startswith("rounds: ") and " 0 wrong" in said
        longest = float(said.split()[-2]) if undisturbed else None
        if not undisturbed:
            self._neighbour.close(0.5)
            try:
                self._start()
            except ChildFailed:
                self.able = False
        # Asked last: the manager hears of an executor's end later than its programs.
        lived = executor == self._executor()
        return {**found, "lived": lived, "undisturbed": undisturbed, "said": said[-300:], "longest_ms": longest}

    def _ask(self):
        """What the neighbour says of its rounds since it was last asked, one of them begun after the question."""
        try:
            self._neighbour.write("how")
            return self._neighbour.read(ANSWER_S)
        except ChildFailed as failed:
            return str(failed)


def tables(results):
    """Counts, then the cases that ended or hung their process, or that others felt."""
    natively = {one["case"]: one for one in results if one["kind"] == "native"}
    relayed = {one["case"]: one for one in results if one["kind"] == "relay"}
    if not natively and not relayed:
        return []
    felt = [one for one in relayed.values() if not one["lived"] or not one["undisturbed"]]
    rows = [
        ("tried natively", len(natively)),
        ("end their process by a signal natively", _count(natively, "SIG")),
        ("hang natively", _count(natively, "hangs")),
        ("end with another status natively", _count(natively, "status")),
        ("tried by relay", len(relayed)),
        ("end the executor or disturb a neighbour, by relay", len(felt)),
        ("end the executor, by relay", sum(not one["lived"] for one in relayed.values())),
        (f"hold up the neighbour for more than {HELD_UP_MS / 1000:g} s, by relay", sum(_held_up(one) for one in relayed.values())),
        ("end their own process by a signal, by relay", _count(relayed, "SIG")),
        ("hang, by relay", _count(relayed, "hangs")),
        ("end with another status, by relay", _count(relayed, "status")),
    ]
    made = [Table("Odd sequences of calls, counted", ("cases that", "cases"), tuple(rows))]
    shown = [name for name in {**natively, **relayed} if _shown(natively.get(name)) or _shown(relayed.get(name))]
    if shown:
        columns = ("case", "natively", "by relay", "executor lived", "neighbour undisturbed", "its longest round, ms", "last line natively", "last line by relay")
        made.append(Table("Odd sequences of calls, those that end or hang", columns, tuple(_row(name, natively.get(name), relayed.get(name)) for name in shown)))
    return made


def _count(cases, outcome):
    return sum(one["outcome"].startswith(outcome) for one in cases.values())


def _held_up(one):
    return (one.get("longest_ms") or 0) > HELD_UP_MS


def _shown(one):
    return one is not None and (one["outcome"] != "done" or not one.get("lived", True) or not one.get("undisturbed", True) or _held_up(one))


def _row(name, natively, relayed):
    natively, relayed = natively or {}, relayed or {}
    return (
        name, natively.get("outcome"), relayed.get("outcome"), relayed.get("lived"), relayed.get("undisturbed"), relayed.get("longest_ms"),
        natively.get("last"), relayed.get("last"),
    )  # fmt: skip
