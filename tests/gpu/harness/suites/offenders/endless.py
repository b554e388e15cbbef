"""Kernels of machine code alone that never end, beside a neighbour in the same context: which end by the stop word, and whether the neighbour goes on.

One kernel runs once more without looks at the word, as a control: nothing but the executor's restart ends it.
"""

import os
import sys
import time

from harness.bench import under_relay
from harness.child import run_bounded
from harness.neighbour import beside_neighbour
from harness.table import Table
from harness.tessera import Manager

TIMEOUT_S = 60
#: Seconds after which a kernel counts as endless.
KERNEL_S = 3
#: A program that comes afterwards is served within this time, unless the kernel still runs: then the executor has to start again.
NEXT_S = 8
#: The setting by which a manager has no loop look at the stop word.
OFF = {"TESSERA_FENCE_LOOPS": "off"}
CONTROL = "word-off"
KERNELS = ("word", "clock", "divergent", "barrier", "arithmetic")
#: A vendor's kernel, by PyTorch.
SLEEP = "import torch; torch.cuda._sleep(2 ** 62); torch.cuda.synchronize()"


def run(setting, record):
    """Each kernel beside a neighbour, in an executor of their own."""
    program = setting.installation.path("programs", "offenders")
    commands = {kernel: [program, kernel] for kernel in KERNELS} | {"torch.cuda._sleep": [sys.executable, "-c", SLEEP], CONTROL: [program, "word"]}
    for name in setting.chosen(list(commands)):
        directory = os.path.join(setting.directory, name)
        os.makedirs(directory, exist_ok=True)
        with Manager(setting.installation, directory, OFF if name == CONTROL else None) as manager:
            record.attempt(name, lambda: _beside_neighbour(record, manager, program, name, commands[name]), 20)


def _beside_neighbour(record, manager, program, name, command):
    environment = under_relay(manager).environment
    options = ("--fence-alone", "--kernel-timeout", str(KERNEL_S))
    outcome = beside_neighbour(manager, environment, program, command, options, TIMEOUT_S)
    began = time.monotonic()
    after = run_bounded(manager.wrap([program, "neighbour"], name="next", share="space"), environment, TIMEOUT_S, "\n")
    free = after[0] == 0 and time.monotonic() - began < NEXT_S
    told = "LaunchTimeout" in outcome.out or "launch timed out" in outcome.out
    record.add(
        "endless", kernel=name, status=outcome.status, seconds=round(outcome.seconds, 1), told=told, ended=told and free,
        neighbour=outcome.neighbour, said=outcome.said[-300:], undisturbed=outcome.undisturbed, out=outcome.out[-600:],
        after=(after[1] + after[2])[-300:],
    )  # fmt: skip


def tables(results):
    """A row a kernel; the control is in a table of its own."""
    made = []
    for title, control in (("Endless machine code beside a neighbour", False), ("The same without looks at the stop word", True)):
        rows = [
            (one["kernel"], one["ended"], one["seconds"], one["undisturbed"], one["said"].strip().splitlines()[-1] if one["said"].strip() else "")
            for one in results
            if one["kind"] == "endless" and (one["kernel"] == CONTROL) == control
        ]
        columns = ("kernel", "program told and kernel gone", "s, its start included", "neighbour undisturbed", "neighbour")
        made += [Table(title, columns, tuple(rows))] if rows else []
    return made
