"""A stand-in for a training that needs no GPU: a step is a sleep, a loss is a count. Speaks the session protocol."""

import argparse
import mmap
import os
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "workloads"))

from session import Session  # noqa: E402  (the path has to be set first)
from step_clock import HostStepClock  # noqa: E402

LAUNCHES_PER_STEP = 3


class ScriptedCounter:
    """Counts the launches of the steps made while entered."""

    def __init__(self, trainer):
        self._trainer = trainer

    def __enter__(self):
        self._before = self._trainer.stepped
        return self

    def __exit__(self, *failure):
        self._launches = LAUNCHES_PER_STEP * (self._trainer.stepped - self._before)

    def result(self):
        """Counts in the shape of launches.count_launches."""
        return {
            "kernel_launches": self._launches,
            "graph_launches": 0,
            "by_name": {},
            "kernels_by_correlation": self._launches,
        }


class PacedTrainer:
    """Steps of a fixed length on the host's clock."""

    def __init__(self, step_s):
        self._step_s = step_s
        self.stepped = 0
        self._segment = None
        if "SCRIPTED_SEGMENT" in os.environ:
            with open(os.environ["SCRIPTED_SEGMENT"], "r+b") as file:
                self._segment = mmap.mmap(file.fileno(), 0)

    def step(self):
        """One step; over when it returns."""
        time.sleep(self._step_s)
        self.stepped += 1
        if self._segment is not None:
            # What a client's library would count: LAUNCHES_PER_STEP in the first thread's slot.
            struct.pack_into("<Q", self._segment, 16384 + 16, LAUNCHES_PER_STEP * self.stepped)

    def loss_of_step(self):
        """One step; its loss is the number of steps so far."""
        self.step()
        return self.stepped

    def readable(self, losses):
        """Losses as text."""
        return [repr(float(loss)) for loss in losses]

    def state_digest(self):
        """The number of steps stands for a model's state."""
        return f"{self.stepped}"

    def synchronize(self):
        """Nothing is ever outstanding."""

    def step_clock(self):
        """The host's clock."""
        return HostStepClock()

    def launch_counter(self):
        """The scripted counter."""
        return ScriptedCounter(self)

    def facts(self):
        """Who this is."""
        return {"pid": os.getpid(), "workload": "paced", "start_seconds": 0.0, "allocator": "none", "expandable": False}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--interactive", action="store_true")
    parser.add_argument("--step-ms", type=float, default=5.0)
    parser.add_argument("--fail", action="store_true", help="end with an error after the warm-up")
    options, _ = parser.parse_known_args()  # a training's own options mean nothing here
    print("a line that is not JSON", flush=True)
    if options.fail:
        sys.exit("scripted failure")
    Session(PacedTrainer(options.step_ms / 1000)).serve()
