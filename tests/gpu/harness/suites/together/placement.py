"""Programs that leave the choice of their GPU to the manager, under each of its rules: where they run, by their own words and by the status."""

import contextlib
import json
import os
import sys
import time

from harness.child import Child
from harness.machine import gpus
from harness.table import Table
from harness.tessera import Manager

#: Rule of the manager, and how many programs of four each of two equal GPUs gets. Under ``none`` programs ask with ``--device auto``.
RULES = {"none": [2, 2], "spread": [2, 2], "pack": [4], "least-loaded": [2, 2]}
WAYS = ("time", "space")
PROGRAMS = 4
MEMORY = "20GiB"
#: A program starts when the one before it is on its GPU: what the manager chooses depends on the programs that are there.
READY_S = 60.0
#: For ``least-loaded``, which goes by the work of the last seconds.
SETTLE_S = 1.0
COLUMNS = ("rule", "way", "programs on each GPU", "asked", "one GPU each", "right", "as the status says")


def run(setting, record):
    """Each rule has a manager of its own, since programs are placed beside those that are there."""
    rules = setting.chosen(RULES)
    count = gpus()
    record.add("gpus", count=count)
    if count < 2:
        print(f"[placement] skipped: needs 2 GPUs, {count} here", file=sys.stderr)
        return
    for rule in rules:
        logs = os.path.join(setting.directory, f"placement-{rule}")
        os.makedirs(logs, exist_ok=True)
        with Manager(setting.installation, logs, {"TESSERA_PLACEMENT": rule}) as manager:
            for way in WAYS:
                record.attempt(f"{rule}, {way}", lambda: _programs(setting, record, manager, rule, way, logs), 30)


def _programs(setting, record, manager, rule, way, logs):
    options = ("--memory", MEMORY, *(("--device", "auto") if rule == "none" else ()))
    program = [sys.executable, os.path.join(setting.workloads, "placed.py")]
    with contextlib.ExitStack() as stack:
        children, places = [], []
        for index in range(PROGRAMS):
            name = f"{rule}-{way}-{index}"
            command = manager.wrap(program, name=name, share=way, options=options)
            child = Child(name, command, manager.environment, os.path.join(logs, f"{name}.log"))
            stack.callback(child.close)
            children.append(child)
            places.append(json.loads(child.read(READY_S)))
            time.sleep(SETTLE_S)
        chosen = [_chosen(manager, child.pid) for child in children]
        ends = []
        for child in children:
            child.finish()
            ends.append(json.loads(child.read(READY_S)))
    here = [place["gpu"] for place in places]
    record.add(
        "programs",
        rule=rule,
        way=way,
        gpus=here,
        shared=sorted((here.count(gpu) for gpu in set(here)), reverse=True),
        alone=all(place["count"] == 1 for place in places),
        right=all(end["right"] for end in ends),
        agreed=chosen == here,
        chosen=chosen,
    )


def _chosen(manager, pid):
    """The GPU that the manager says it has chosen for a process, without the prefix; None: it says nothing."""
    device = manager.client(pid).get("placement", {}).get("device")
    return device.removeprefix("GPU-") if device else None


def tables(results):
    """One row a rule and way of sharing."""
    count = next((one["count"] for one in results if one["kind"] == "gpus"), None)
    if count is not None and count < 2:
        return [Table("Placement", COLUMNS, (), (f"skipped: needs 2 GPUs, {count} here",))]
    rows = tuple(
        (
            one["rule"],
            one["way"],
            " + ".join(map(str, one["shared"])),
            " + ".join(map(str, RULES[one["rule"]])) + (": met" if one["shared"] == RULES[one["rule"]] else ": missed"),
            one["alone"],
            one["right"],
            one["agreed"],
        )
        for one in results
        if one["kind"] == "programs"
    )
    return [Table("Placement", COLUMNS, rows)] if rows else []
