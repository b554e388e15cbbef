"""Kernels of machine code alone that never end, beside a neighbour in the same context: which end by the stop word, and whether the neighbour goes on."""

import subprocess
import sys
import time

from harness.bench import under_relay
from harness.child import run_bounded
from harness.table import Table
from harness.tessera import Manager

TIMEOUT_S = 60
#: Seconds after which a kernel counts as endless.
KERNEL_S = 3
#: As whoever starts a manager asks for looks at the stop word.
LOOK = {"TESSERA_FENCE_LOOPS": "look"}
KERNELS = ("word", "clock", "divergent", "barrier", "arithmetic")
#: A vendor's kernel, by PyTorch.
SLEEP = "import torch; torch.cuda._sleep(2 ** 62); torch.cuda.synchronize()"


def run(setting, record):
    """Each kernel beside a neighbour of its own."""
    program = setting.installation.path("programs", "endless")
    commands = {kernel: [program, kernel] for kernel in KERNELS} | {"torch.cuda._sleep": [sys.executable, "-c", SLEEP]}
    with Manager(setting.installation, setting.directory, LOOK) as manager:
        for name in setting.chosen(list(commands)):
            record.attempt(name, lambda: _beside_neighbour(record, manager, program, name, commands[name]), 15)


def _beside_neighbour(record, manager, program, name, command):
    environment = under_relay(manager).environment
    options = ("--fence-alone", "--kernel-timeout", str(KERNEL_S))
    neighbour = subprocess.Popen(
        manager.wrap([program, "neighbour"], name="neighbour", share="space", options=options), env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        while neighbour.stdout.readline().strip() not in ("begun", ""):
            pass
        began = time.monotonic()
        status, out, err = run_bounded(
            manager.wrap(command, name="endless", share="space", options=options), environment, TIMEOUT_S
        )
        seconds = time.monotonic() - began
        said, _ = neighbour.communicate("\n", TIMEOUT_S)
    finally:
        if neighbour.poll() is None:
            neighbour.kill()
    ended = "LaunchTimeout" in out + err or "launch timed out" in out + err
    record.add(
        "endless", kernel=name, status=status, seconds=round(seconds, 1), ended=ended, neighbour=neighbour.returncode, said=said[-300:],
        undisturbed=neighbour.returncode == 0 and ", 0 wrong" in said, out=(out + err)[-600:],
    )  # fmt: skip


def tables(results):
    """A row a kernel."""
    rows = [
        (one["kernel"], one["ended"], one["seconds"], one["undisturbed"], one["said"].strip().splitlines()[-1] if one["said"].strip() else "")
        for one in results
        if one["kind"] == "endless"
    ]
    columns = ("kernel", "ended by the stop word", "s, its start included", "neighbour undisturbed", "neighbour")
    return [Table("Endless machine code beside a neighbour", columns, tuple(rows))] if rows else []
