"""A small model that answers requests beside one heavy program: what its requests take, and what the heavy program keeps of its speed.

The small model is resnet50 in fp16 for one image, as one CUDA graph. Its requests come in an open loop: at times fixed ahead, 100 a
second on average, and a request's time counts from when it was to come. Also a program that starts beside a deep queue of kernels.
"""

import contextlib
import time
import typing

from harness.bench import NS, Bench, measure, native, under_mps, under_relay, under_tessera
from harness.control import device_in_use
from harness.figures import number, quantile, verdict
from harness.mps import Mps
from harness.table import Table
from harness.tessera import Manager

RATE = 100
#: `--set window=SECONDS` and `--set settle=SECONDS` say otherwise.
WINDOW_S = 6.0
SETTLE_S = 1.0
ALONE_S = 2.0
LOOK_S = 0.25
#: Many programs start at once, by relay with code that nobody has fenced yet.
READY_S = 120.0
COMPUTES, STREAMS = "computes", "streams"


class Heavy(typing.NamedTuple):
    """A heavy program.

    :param text: what it does
    :param workload: its file
    :param environment: its sizes
    :param kind: which of the bounds hold beside it
    :param needs_s: the time of its case
    """

    text: str
    workload: str
    environment: dict = {}
    kind: str = COMPUTES
    needs_s: int = 90


def _gemm(size, per_step, depth):
    return {"GEMM_SIZE": str(size), "GEMM_PER_STEP": str(per_step), "GEMM_DEPTH": str(depth)}


#: A deep queue takes 13 s to run out, after each of its windows.
DEEP = Heavy("bf16 GEMM of 16384³, 1,000 deep", "gemm", _gemm(16384, 10, 100), needs_s=150)
HEAVIES = {
    "gemm": Heavy("bf16 GEMM of 16384³, 3 deep", "gemm", _gemm(16384, 1, 3)),
    "gemm-deep": DEEP,
    "gemm-40": Heavy("40 bf16 GEMMs of 4096³ a step, 3 steps deep", "gemm", _gemm(4096, 40, 3)),
    "training": Heavy("resnet50 training, batch 128, bf16", "resnet50"),
    "stream": Heavy("streaming over 12 GiB", "stream", kind=STREAMS),
    "spin": Heavy("kernels of 20 ms in one wave", "spin", kind="spins"),
}
NEWCOMER = "newcomer"
NEWCOMER_S = 110
NEWCOMER_WAYS = ("time-slicing", "relay")
FIRST, AGAIN = "alone", "alone again"
PHASES = ("start_s", "first_s", "more_s", "other_s")

#: Programs by their label, and where each runs. Two ways share a program where nothing about it differs.
SMALL = {"native": "native", "mps": "mps", "turns": "turns", "relay": "relay", "interactive": "relay"}
LARGE = {"native": "native", "mps": "mps", "mps-75": "mps", "turns": "turns", "relay": "relay"}
PART = {"mps-75": {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "75"}}
#: Way: the labels of its small and its heavy program.
WAYS = {
    "time-slicing": ("native", "native"),
    "MPS": ("mps", "mps"),
    "MPS, heavy at 75 %": ("mps", "mps-75"),
    "turns": ("turns", "turns"),
    "relay": ("relay", "relay"),
    "relay, interactive": ("interactive", "relay"),
}
TESSERA = ("turns", "relay", "relay, interactive")
ALONE = "alone"


class Bound(typing.NamedTuple):
    """What the issue asks: the p99 of a way against another's, and what the heavy program keeps."""

    way: str
    against: str
    largest: float
    keeps: typing.Optional[float]
    kinds: tuple


BOUNDS = (
    Bound("relay", ALONE, 1.5, 0.82, (COMPUTES,)),
    Bound("relay, interactive", ALONE, 1.3, 0.75, (COMPUTES,)),
    Bound("relay", "MPS, heavy at 75 %", 1.1, None, (STREAMS,)),
    Bound("turns", "time-slicing", 1.1, None, (COMPUTES, STREAMS, "spins")),
)


def run(setting, record):
    """Each case starts its programs once, all together, and measures the ways one after the other."""
    with contextlib.ExitStack() as stack:
        manager = stack.enter_context(Manager(setting.installation, setting.directory))
        places = {"native": native(), "turns": under_tessera(manager), "relay": under_relay(manager)}
        chosen = setting.chosen((*HEAVIES, NEWCOMER))
        if set(chosen) & set(HEAVIES):
            try:
                places["mps"] = under_mps(stack.enter_context(Mps(setting.directory)))
            except Exception as absent:  # no MPS costs the comparison with it, not the rest
                record.problem("mps", f"{type(absent).__name__}: {absent}")
        for name in chosen:
            if name == NEWCOMER:
                record.attempt(name, lambda: _newcomers(setting, record, places), NEWCOMER_S)
            else:
                record.attempt(name, lambda: _case(setting, record, manager, places, name), HEAVIES[name].needs_s)


def _case(setting, record, manager, places, case):
    settle_s, window_s = setting.option("settle", SETTLE_S), setting.option("window", WINDOW_S)
    interactive = f"{case}-interactive-small"
    # As `tessera run --class interactive` does it: before the program starts.
    manager.control.request("tenant", tenant=interactive, set={"class": "interactive"}, ahead=True)
    with Bench(setting.workloads, setting.directory) as bench:
        small, large = _start(record, bench, places, case)
        record.attempt(f"{case} alone", lambda: _alone(record, case, small["native"], large["native"], window_s))
        for way, (one, other) in WAYS.items():
            if one in small and other in large:
                looks = Looks(manager if way in TESSERA else None)
                record.attempt(f"{case} {way}", lambda: _beside(record, case, way, small[one], large[other], looks, settle_s, window_s))
    manager.control.request("tenant", tenant=interactive, reset=True, ahead=True)


def _start(record, bench, places, case):
    """The small and the heavy programs by label, warm; those that did not start are missing."""
    heavy = HEAVIES[case]
    small = {
        label: bench.start(places[place], "inference", "--variant", "graph", name=f"{case}-{label}-small", ready_timeout_s=READY_S)
        for label, place in SMALL.items()
        if place in places
    }
    large = {
        label: bench.start(
            places[place], heavy.workload, name=f"{case}-{label}-heavy", environment={**heavy.environment, **PART.get(label, {})}, ready_timeout_s=READY_S
        )
        for label, place in LARGE.items()
        if place in places
    }
    for group in (small, large):
        for label in list(group):
            try:
                group[label].ready()
            except Exception as failed:  # the other ways are still worth measuring
                record.problem(f"{case} {label}", f"{type(failed).__name__}: {failed}")
                group.pop(label).close()
    return small, large


def _alone(record, case, small, large, window_s):
    small.serve(RATE)
    time.sleep(window_s)
    record.add("small alone", case=case, **_times(small.served()))
    rates, _ = measure([large], ALONE_S)
    record.add("heavy alone", case=case, rate=rates[0])


def _beside(record, case, way, small, large, looks, settle_s, window_s):
    try:
        large.go()
        time.sleep(settle_s)
        small.serve(RATE)
        looks.during(window_s)
        served = small.served()
        executors = looks.executors()
        large.stop()
        ran = large.collect()
    except BaseException:
        # Whatever still runs would be measured with the ways that follow.
        small.close()
        large.close()
        raise
    rate = ran.rate(served["start_ns"], served["end_ns"])
    bins = ran.bins(served["start_ns"], served["end_ns"], NS)
    record.add("beside", case=case, way=way, **_times(served), rate=rate, bins=bins, decisions=looks.decisions, executors=executors)


class Looks:
    """What the manager decides while others are measured. Natively there is none, and nothing to look at."""

    def __init__(self, manager):
        self._manager = manager
        self.decisions = []

    def during(self, seconds):
        """Looks a few times a second for this time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self._manager:
                self._look()
            time.sleep(max(0.0, min(LOOK_S, end - time.monotonic())))

    def _look(self):
        device = device_in_use(self._manager.control.status())
        found = {key: device.get(key) for key in ("effective", "reason", "quantumNs")} if device else None
        if not found:
            return
        # Of what is in effect in a row the last reason is kept: the first is often from before the window.
        if self.decisions and self.decisions[-1]["effective"] == found["effective"]:
            self.decisions.pop()
        self.decisions.append(found)

    def executors(self):
        """What the manager says of its executors, for the record."""
        return self._manager.control.status().get("executors", []) if self._manager else []


def _times(served):
    """Times of requests in milliseconds. Of a request that was not answered only its age is known: it took longer than that."""
    times = [taken / 1000 for taken in served["latencies_us"] + served["ages_us"]]
    if not times:
        raise ValueError("no request came")
    return {
        "p50_ms": quantile(times, 0.5), "p99_ms": quantile(times, 0.99), "longest_ms": max(times), "unanswered": len(served["ages_us"]),
        "latencies_ms": [round(taken / 1000, 2) for taken in served["latencies_us"]],
    }  # fmt: skip


def _newcomers(setting, record, places):
    """In each way twice alone and once beside; the first by relay is also the one that fences what it loads."""
    places = {"time-slicing": places["native"], "relay": places["relay"]}
    with Bench(setting.workloads, setting.directory) as bench:
        heavies = {
            way: bench.start(place, DEEP.workload, name=f"newcomer-{way}-heavy", environment=DEEP.environment, ready_timeout_s=READY_S)
            for way, place in places.items()
        }
        for heavy in heavies.values():
            heavy.ready()
        for way, place in places.items():
            record.attempt(f"newcomer {way}", lambda: _newcomer(setting, record, way, place, heavies[way]))


def _newcomer(setting, record, way, place, heavy):
    for place_in_line in FIRST, AGAIN:
        name = f"newcomer-{way}-{place_in_line}".replace(" ", "-")
        record.add(NEWCOMER, way=way, beside=False, when=place_in_line, **_arrival(setting, place, name))
    heavy.go()
    try:
        time.sleep(SETTLE_S)
        came_ns = time.monotonic_ns()
        took = _arrival(setting, place, f"newcomer-{way}-beside")
        left_ns = time.monotonic_ns()
        heavy.stop()
        ran = heavy.collect()
    except BaseException:
        heavy.close()
        raise
    gaps = [later - earlier for earlier, later in zip(ran.done_ns, ran.done_ns[1:]) if came_ns <= later and earlier <= left_ns]
    steps = {"heavy_median_ms": ran.typical_ns / 1e6, "heavy_longest_ms": max(gaps) / 1e6 if gaps else None}
    record.add(NEWCOMER, way=way, beside=True, **took, **steps)


def _arrival(setting, place, name):
    with Bench(setting.workloads, setting.directory) as bench:
        facts = bench.start(place, "newcomer", name=name, ready_timeout_s=READY_S).ready()
    return {phase: facts[phase] for phase in PHASES}


def tables(results):
    """The figures of all ways, what is asked of some of them, and the newcomers."""
    cases = {case: found for case in HEAVIES if (found := figures(results, case))}
    made = []
    if cases:
        rows = tuple((HEAVIES[case].text, *(_cell(found.get(way)) for way in (ALONE, *WAYS))) for case, found in cases.items())
        notes = (
            f"p50 / p99 of the small model's requests in ms, and the part of its speed alone that the heavy program keeps; {RATE} requests a second on average, {WINDOW_S:g} s unless said otherwise",
            "≥: some requests were not answered; they took longer than their age, which counts here",
            *_decisions(results),
        )
        made.append(Table("A small model beside one heavy program", ("heavy program", "small one alone", *WAYS), rows, notes))
        columns = ("heavy program", "way", "p99, ms", "against", "ratio", "asked", "heavy keeps", "asked")
        rows = tuple(row for case, found in cases.items() for row in _asked(case, found))
        made += [Table("A small model beside one heavy program, what is asked", columns, rows)] if rows else []
    return made + _newcomer_table(results)


def figures(results, case):
    """By way, and alone: p50 and p99, what the heavy program keeps, and how many requests were not answered."""
    ours = [one for one in results if one.get("case") == case]
    alone = next((one["rate"] for one in ours if one["kind"] == "heavy alone"), None)
    found = {one["way"]: {**one, "keeps": one["rate"] / alone if alone else None} for one in ours if one["kind"] == "beside"}
    found.update({ALONE: {**one, "keeps": None} for one in ours if one["kind"] == "small alone"})
    return found


def _cell(one):
    if one is None:
        return None
    least = "≥ " if one["unanswered"] else ""
    keeps = f", {one['keeps']:.2f}" if one["keeps"] is not None else ""
    return f"{least}{number(one['p50_ms'])} / {number(one['p99_ms'])}{keeps}"


def _asked(case, found):
    for bound in BOUNDS:
        if HEAVIES[case].kind not in bound.kinds or bound.way not in found:
            continue
        one, base = found[bound.way], found.get(bound.against)
        ratio = one["p99_ms"] / base["p99_ms"] if base else None
        # A p99 that is only known to be larger can miss a bound, not meet it.
        known = ratio if ratio is not None and (not one["unanswered"] or ratio > bound.largest) else None
        keeps = f"≥ {bound.keeps}: {verdict(one['keeps'], bound.keeps)}" if bound.keeps else "–"
        asked = f"≤ {bound.largest}: {verdict(known, bound.largest, at_least=False)}"
        yield (HEAVIES[case].text, bound.way, one["p99_ms"], bound.against, ratio, asked, one["keeps"], keeps)


def _decisions(results):
    return [
        f"{one['case']}, {one['way']}: " + "; ".join(f"{decision['effective']} ({decision['reason']})" for decision in one["decisions"])
        for one in results
        if one["kind"] == "beside" and one["decisions"]
    ]


def _newcomer_table(results):
    rows = [
        (f"{one['way']}, {'beside' if one['beside'] else one.get('when', FIRST)}", *(one[phase] for phase in PHASES), one.get("heavy_median_ms"), one.get("heavy_longest_ms"))
        for way in NEWCOMER_WAYS
        for one in results
        if one["kind"] == NEWCOMER and one["way"] == way
    ]
    columns = (
        "way", "start, s", "first forward, s", "twenty more, s", "svd, fft, sort, s", "heavy's step, median, ms", "longest meanwhile, ms",
    )  # fmt: skip
    note = f"PyTorch and resnet50 beside {DEEP.text}; a step of these is 10 GEMMs; start: until the model is on the device"
    return [Table("A program that starts beside a deep queue", columns, tuple(rows), (note,))] if rows else []
