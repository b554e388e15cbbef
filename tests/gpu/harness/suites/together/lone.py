"""The programs of the suite ``mixes``, each with nobody else on the GPU: natively, by relay without fences, and fenced all the same."""

import json
import os
import statistics

from harness.bench import Placement, native
from harness.child import Child
from harness.suites.together.mixes import FENCED, PROGRAMS, READY_TIMEOUT_S, ask, counted
from harness.table import Table
from harness.tessera import Manager

WAYS = ("native", "relay", "fenced")
#: How long the work of a run takes natively.
WORK_S = 0.6
#: The first run is not counted: by relay code without fences is made meanwhile.
RUNS = 4


def run(setting, record):
    """A program after the other, and of each a process after the other, so that every one is alone."""
    program = setting.installation.path("programs", "mix")
    if not os.access(program, os.X_OK):
        record.problem("lone", f"there is no {program}: the machine that built the kit had no nvcc")
        return
    with Manager(setting.installation, setting.directory) as manager:
        places = {"native": native(), "relay": _relay(manager, ()), "fenced": _relay(manager, FENCED.split())}
        for name in setting.chosen(PROGRAMS):
            record.attempt(name, lambda: _measure(setting, record, program, places, name), 6 + 3 * RUNS * WORK_S)


def _relay(manager, words):
    return Placement("relay", manager.environment, lambda command, name: manager.wrap(command, name=name, share="space", options=words))


def _measure(setting, record, program, places, name):
    iterations = None
    for way in WAYS:
        label, place = f"{way}-{name}", places[way]
        child = Child(label, place.wrap([program, name], label), place.environment, os.path.join(setting.directory, f"{label}.log"))
        try:
            json.loads(child.read(READY_TIMEOUT_S))
            iterations = iterations or counted(child, WORK_S)
            for turn in range(RUNS):
                record.add("run", program=name, way=way, turn=turn, **ask([child], [iterations])[0])
        finally:
            child.close()


def tables(results):
    """Medians of a run, and what the ways cost against native."""
    rows = []
    for name in PROGRAMS:
        runs = {way: [one for one in results if one["kind"] == "run" and one["program"] == name and one["way"] == way] for way in WAYS}
        if not runs["native"]:
            continue
        times = {way: [one["ms"] for one in found if one["turn"] > 0] for way, found in runs.items()}
        own = {way: statistics.median(found) if found else None for way, found in times.items()}
        against = [own[way] / own["native"] if own[way] and own["native"] else None for way in WAYS[1:]]
        equal = len({one["checksum"] for found in runs.values() for one in found}) == 1
        rows.append((name, runs["native"][0]["iterations"], own["native"], own["relay"], against[0], own["fenced"], against[1], equal))
    columns = ("program", "iterations", "native, ms", "relay, ms", "relay/native", "fenced, ms", "fenced/native", "results equal")
    note = f"medians of {RUNS - 1} runs behind a first one; nobody else is on the GPU; relay: without fences, as a tenant that is alone"
    return [Table("Programs that are alone", columns, tuple(rows), (note,))] if rows else []
