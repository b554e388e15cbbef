"""Servers that each have most of the GPU's memory, at once: none stands still, and what each left in it is there again.

No ``--capacity``: the device has less than its size says, by contexts and what the driver keeps. All start at once. Each
uses 2 GiB of its memory and never writes to the rest, as engines do that allocate ahead; all of it together is more than the
device and the host have.
"""

import concurrent.futures
import contextlib
import re
import threading
import time
import typing

from harness.bench import Bench, native, under_relay, under_tessera
from harness.child import ChildFailed
from harness.figures import quantile
from harness.table import Table
from harness.tessera import Manager

GIB = 1 << 30
#: Seconds of a case: until the servers are ready, and in which requests begin; and of one request.
READY_S = 55.0
SERVED_S = 30.0
REQUEST_S = 60.0
THINK_S = 0.2
WATCH_S = 0.25
STATUS_EVERY_S = 10.0
#: Neither an answer nor a byte moved for this long, while a request waits: a standstill. A start has its own bound.
STANDSTILL_S = 12.0
#: What differs between two sentences about the same thing.
_TIMES = re.compile(r"[\d.]+ (s|min|GiB)\b")
#: What PyTorch says of it.
OUT_OF_MEMORY = "out of memory"
CASE_S = 150
NATIVE = "native"


class Case(typing.NamedTuple):
    """So many servers, each with a share of the device.

    :param weights_gib: of that, read at each request and never changed
    :param fill_after: requests after which each fills all of its memory
    :param settings: of the manager
    :param ends: a server may run out of memory
    :param relayed: in space sharing
    """

    servers: int
    share: float
    weights_gib: int = 0
    fill_after: int = 0
    settings: dict = {}
    ends: bool = False
    relayed: bool = False


CASES = {
    NATIVE: Case(1, 0.75),
    "two servers": Case(2, 0.75),
    "three of 0.9": Case(3, 0.9),
    "three with weights": Case(3, 0.85, weights_gib=16),
    "more than the host has": Case(2, 0.75, fill_after=20, settings={"TESSERA_HOST_MEMORY": "4GiB", "TESSERA_HOST_PAGEABLE": "2GiB"}, ends=True),
    "two servers by relay": Case(2, 0.75, relayed=True),
    "three of 0.9 by relay": Case(3, 0.9, relayed=True),
}


class Request(typing.NamedTuple):
    """One answer of a server."""

    server: int
    begun_s: float
    seconds: float


def run(setting, record):
    """Each case with a manager of its own; one server natively beside them."""
    for name in setting.chosen(CASES):
        record.attempt(name, lambda: _case(setting, record, name), CASE_S)


def _case(setting, record, name):
    case = CASES[name]
    size = {"SERVER_SHARE": case.share, "SERVER_WEIGHTS_GIB": case.weights_gib, "SERVER_FILL_AFTER": case.fill_after}
    size = {key: str(value) for key, value in size.items()}
    begun = time.monotonic()
    managed = contextlib.nullcontext() if name == NATIVE else Manager(setting.installation, setting.directory, case.settings)
    with managed as manager, Bench(setting.workloads, setting.directory) as bench:
        place = native() if not manager else under_relay(manager) if case.relayed else under_tessera(manager, "auto")
        labels = [f"{name}-server-{i}".replace(" ", "-") for i in range(case.servers)]
        servers = [bench.start(place, "server", name=label, environment=size, ready_timeout_s=READY_S) for label in labels]
        with Watch(manager) as watch:
            ready_s, requests, failures = _serve(servers, watch, begun)
    record.add(
        "fullsize", case=name, servers=case.servers, ready_s=ready_s, standstill_s=watch.longest_s, moved=watch.moved,
        requests=[request._asdict() for request in requests], said=watch.said, status=watch.lines, failures=failures,
    )  # fmt: skip
    for failure in failures:
        if not (case.ends and OUT_OF_MEMORY in failure):
            record.problem(name, failure)
    if watch.longest_s > STANDSTILL_S:
        record.problem(name, f"nothing moved and nobody was answered for {watch.longest_s:.1f} s")


class Watch:
    """Looks at the manager's status while servers work: how long nothing goes on, and what it says of that. A thread of its own."""

    def __init__(self, manager):
        """Natively there is no manager, and nothing to look at."""
        self._manager = manager
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._begun = time.monotonic()
        self._seen = None
        self._seen_at = self._begun
        self.answers = 0
        self.waiting = set()
        self.longest_s = 0.0
        self.said = []
        self.lines = []
        #: By process, or by tenant of an executor: bytes copied in, copied out, and given up without a copy.
        self.moved = {}

    def __enter__(self):
        if self._manager:
            self._thread.start()
        return self

    def __exit__(self, *failure):
        self._ended.set()
        if self._manager:
            self._thread.join()

    def _run(self):
        text_at = self._begun + STATUS_EVERY_S / 2
        while not self._ended.wait(WATCH_S):
            try:
                self._look(self._manager.control.status())
            except (OSError, ValueError) as failed:
                self._say(f"status: {failed}")
            if time.monotonic() >= text_at:
                text_at += STATUS_EVERY_S
                _, out, err = self._manager.tessera("status", timeout_s=10)
                self.lines.append((round(time.monotonic() - self._begun, 1), (out or err).splitlines()[:20]))

    def _look(self, status):
        now = time.monotonic()
        words = [self.answers]
        for client in status["clients"]:
            for device in client.get("devices", ()):
                memory = device.get("residency", {})
                self.moved[client["pid"]] = [memory.get(key) for key in ("movedInBytes", "movedOutBytes", "sparedBytes")]
                words.append([client["pid"], *(memory.get(key) for key in ("residentBytes", "movedInBytes", "movedOutBytes"))])
                if memory.get("shortOf"):
                    self._say(f"short: {memory['shortOf']}")
        for executor in status.get("executors", ()):
            for window in executor.get("windows", ()):
                self.moved[window["tenant"]] = [None, *(window.get(key) for key in ("movedOutBytes", "sparedBytes"))]
                words.append([window["tenant"], *(window.get(key) for key in ("awayBytes", "movedOutBytes", "sparedBytes"))])
        for device in status["devices"]:
            memory = device.get("memory", {})
            if memory.get("standing"):
                self._say(f"standing: {memory['standing']}")
            if memory.get("usableBytes"):
                self._say(f"usable: {memory['usableBytes'] / GIB:.2f} GiB of {memory['capacityBytes'] / GIB:.2f}")
        if words != self._seen or not self.waiting:
            self._seen, self._seen_at = words, now
        self.longest_s = max(self.longest_s, now - self._seen_at)

    def _say(self, sentence):
        known = {_TIMES.sub("", said) for _, said in self.said}
        if len(self.said) < 100 and _TIMES.sub("", sentence) not in known:
            self.said.append((round(time.monotonic() - self._begun, 1), sentence))


def _serve(servers, watch, begun):
    """When all were ready, their answers in order, and why a server ended, or which of them did not start."""
    requests, failures = [], []
    for server in servers:
        try:
            server.ready()
        except ChildFailed as failed:
            failures.append(str(failed))
    ready_s = time.monotonic() - begun
    if not failures:
        with concurrent.futures.ThreadPoolExecutor(len(servers)) as pool:
            work = [pool.submit(_ask, watch, server, i, begun, requests) for i, server in enumerate(servers)]
            failures += [str(future.exception()) for future in work if future.exception()]
    return ready_s, sorted(requests, key=lambda one: one.begun_s), failures


def _ask(watch, server, index, begun, requests):
    until = time.monotonic() + SERVED_S
    while time.monotonic() < until:
        at = time.monotonic() - begun
        watch.waiting.add(index)
        server.steps(1, REQUEST_S)
        watch.waiting.discard(index)
        watch.answers += 1
        requests.append(Request(index, round(at, 2), round(time.monotonic() - begun - at, 3)))
        time.sleep(THINK_S)


def tables(results):
    """Requests by case and server; what the manager said meanwhile."""
    rows, notes = [], []
    for one in results:
        if one["kind"] != "fullsize":
            continue
        for server in range(one["servers"]):
            times = [request["seconds"] for request in one["requests"] if request["server"] == server]
            rows.append((one["case"], server + 1, one["ready_s"], len(times), *(quantile(times, part) if times else None for part in (0.5, 0.95)),
                         max(times, default=None), one["standstill_s"]))  # fmt: skip
        for pid, moved in one.get("moved", {}).items():
            came, left, spared = ((size or 0) / GIB for size in moved)
            notes.append(f"{one['case']}, {pid}: {came:.1f} GiB copied in, {left:.1f} GiB copied out, {spared:.1f} GiB left without a copy")
        notes += [f"{one['case']}, {at} s: {sentence}" for at, sentence in one["said"]]
        notes += [f"{one['case']}: {failure}" for failure in one["failures"]]
        notes += [f"{one['case']}, {at} s: `{' / '.join(lines)}`" for at, lines in one["status"][-1:]]
    columns = ("case", "server", "all ready, s", "requests", "median, s", "95th percentile, s", "longest, s", "longest without progress, s")
    return [Table("Servers at full size", columns, tuple(rows), (*notes, f"a request checks and changes 2 GiB, and reads the weights, {THINK_S} s after the last answer; a server that finds a wrong word ends"))] if rows else []
