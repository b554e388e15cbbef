"""A program beside another one in the same context: one computes sums until it is told to end, the other does what it must not."""

import subprocess
import time
from dataclasses import dataclass

from harness.child import run_bounded


@dataclass(frozen=True)
class Outcome:
    """What became of both."""

    status: int
    out: str
    seconds: float
    neighbour: int
    said: str

    @property
    def undisturbed(self):
        """Whether the neighbour went on to its end, and all its sums were right."""
        return self.neighbour == 0 and ", 0 wrong" in self.said

    @property
    def sums(self):
        """The neighbour's last line."""
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else ""


def beside_neighbour(manager, environment, program, command, options, timeout_s):
    """Runs a command while `PROGRAM neighbour` computes."""
    neighbour = subprocess.Popen(
        manager.wrap([program, "neighbour"], name="neighbour", share="space", options=options), env=environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    try:
        while neighbour.stdout.readline().strip() not in ("begun", ""):
            pass
        began = time.monotonic()
        status, out, err = run_bounded(manager.wrap(command, name="offender", share="space", options=options), environment, timeout_s)
        seconds = time.monotonic() - began
        said, _ = neighbour.communicate("\n", timeout_s)
    finally:
        if neighbour.poll() is None:
            neighbour.kill()
    return Outcome(status, out + err, seconds, neighbour.returncode, said)
