"""Programs on two GPUs: one program on both, one on the second alone, groups of processes; natively, in turns and by relay."""

import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

from harness.bench import native, under_relay, under_tessera
from harness.child import run_bounded
from harness.machine import gpus
from harness.table import Table
from harness.tessera import Manager

#: Name of a case for --only: the PyTorch cases that its process runs. NCCL may wait for ever: it has processes of its own.
GROUPS = {
    "tensors": ("tensors", "streams_and_events", "pinned", "graphs", "memory_figures", "model_halves"),
    "data_parallel": ("data_parallel",),
    "ddp_gloo": ("ddp_gloo",),
    "ddp_nccl": ("ddp_nccl",),
    "ddp_nccl_net": ("ddp_nccl_net",),
}
#: Name of a placement, and of its column.
PLACES = {"native": "native", "auto": "plan auto", "space": "relay"}
COLUMNS = ("case", *PLACES.values(), "equal", "detail")
PROGRAM = "program"
VISIBLE = "visible"
TIMEOUT_S = 45
#: What a step may take, for the limit of the whole suite.
STEP_S = 20


def run(setting, record):
    """Each step in all ways at the same time: nothing is measured here but what the program says by itself."""
    chosen = setting.chosen((PROGRAM, VISIBLE, *GROUPS))
    count = gpus()
    record.add("devices", count=count)
    if count < 2:
        print(f"[devices] skipped: needs 2 GPUs, {count} here", file=sys.stderr)
        return
    with Manager(setting.installation, setting.directory) as manager:
        places = (native(), under_tessera(manager, "auto"), under_relay(manager))
        steps = {PROGRAM: _program, VISIBLE: _visible, **{name: _cases for name in GROUPS}}
        for name in chosen:
            record.attempt(name, lambda: _all(setting, record, places, steps[name], name), STEP_S)


def _all(setting, record, places, step, name):
    with ThreadPoolExecutor(len(places)) as threads:
        for found in threads.map(lambda place: step(setting, place, name), places):
            for kind, fields in found:
                record.add(kind, **fields)


def _program(setting, place, name):
    program = setting.installation.path("programs", "devices")
    label = f"{place.name}-{name}"
    status, out, err = run_bounded(place.wrap([program], label), place.environment, TIMEOUT_S)
    notes = [line[len("note ") :] for line in out.splitlines() if line.startswith("note ")]
    lines = [line for line in out.splitlines() if not line.startswith("note ")]
    ok = status == 0 and bool(lines) and not any("WRONG" in line for line in lines)
    detail = "" if ok else next((line for line in lines if not line.endswith(" ok")), f"status {status}: {err.strip()[-300:]}")
    return [("program", {"placement": place.name, "ok": ok, "lines": lines, "notes": notes, "detail": detail})]


def _answers(setting, place, label, names, extra):
    """What a process said of its cases, and what became of the process where it said nothing."""
    program = [sys.executable, os.path.join(setting.workloads, "devices.py"), *names]
    status, out, err = run_bounded(place.wrap(program, label), {**place.environment, **extra}, TIMEOUT_S)
    with open(os.path.join(setting.directory, f"{label}.log"), "w", encoding="utf-8") as log:
        log.write(err)
    told = {one["case"]: one for one in (json.loads(line) for line in out.splitlines() if line.startswith('{"case"'))}
    silent = f"no answer; the process ended with {status}: {err.strip()[-300:]}"
    return [told.get(name, {"case": name, "ok": False, "detail": silent}) for name in names]


def _cases(setting, place, name):
    found = _answers(setting, place, f"{place.name}-{name}", list(GROUPS[name]), {})
    return [("case", {"placement": place.name, **one}) for one in found]


def _visible(setting, place, name):
    """Two processes at once, each of which sees one of the GPUs: both compute the same."""
    with ThreadPoolExecutor(2) as threads:
        both = threads.map(
            lambda gpu: _answers(
                setting, place, f"{place.name}-{name}-{gpu}", ["training"], {"CUDA_VISIBLE_DEVICES": str(gpu)}
            )[0],
            range(2),
        )
        first, second = both
    ok = first["ok"] and second["ok"] and first["detail"] == second["detail"] and first["detail"].startswith("1 device")
    detail = first["detail"] if ok else f"{first['detail']} | {second['detail']}"
    return [("case", {"placement": place.name, "case": VISIBLE, "ok": ok, "detail": detail})]


def tables(results):
    """One row a case; what the program notes of each side below."""
    count = next((one["count"] for one in results if one["kind"] == "devices"), None)
    if count is not None and count < 2:
        note = f"skipped: needs 2 GPUs, {count} here"
        return [Table("Two GPUs", COLUMNS, (), (note,))]
    rows, notes = [], []
    programs = {one["placement"]: one for one in results if one["kind"] == "program"}
    if programs:
        rows.append(_row("two devices in one CUDA program", programs, "lines"))
        notes += [f"the program, {place}: {'; '.join(one['notes'])}" for place, one in programs.items()]
    by_case = {}
    for one in results:
        if one["kind"] == "case":
            by_case.setdefault(one["case"], {})[one["placement"]] = one
    for name, places in by_case.items():
        rows.append(_row(name, places, "detail"))
    return [Table("Two GPUs", COLUMNS, tuple(rows), tuple(notes))] if rows else []


def _row(name, places, answer):
    """Which ways are right, and whether all answered the same."""
    cells = [places[place]["ok"] if place in places else None for place in PLACES]
    equal = len(places) == len(PLACES) and all(one[answer] == places["native"][answer] for one in places.values())
    detail = next((f"{place}: {one['detail']}" for place, one in places.items() if not one["ok"]), "")
    return (name, *cells, equal, detail.replace("\n", " ")[:200])
