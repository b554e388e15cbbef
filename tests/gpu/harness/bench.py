"""Starts workloads natively, under MPS and under Tessera, and measures windows of them."""

import dataclasses
import os
import sys
import time
from collections.abc import Callable

from harness.steps import common_window, split
from harness.tessera import native_environment
from harness.worker import READY_TIMEOUT_S, Worker, run_together

NS = 1_000_000_000
#: After the start of a run, before its window: the launch queue fills and the clocks of the GPU rise.
SETTLE_S = 0.4
BIN_NS = 100_000_000


@dataclasses.dataclass(frozen=True)
class Placement:
    """How a program is run: its environment, and what is put before its command."""

    name: str
    environment: dict
    wrap: Callable = staticmethod(lambda command, name: command)


def native():
    """Straight on the vendor's driver."""
    return Placement("native", native_environment())


def under_mps(mps):
    """As a client of the given MPS daemon."""
    return Placement("mps", mps.environment)


def under_tessera(manager, plan="plain"):
    """Under ``tessera run`` with the given memory plan."""
    return Placement(plan, manager.environment, lambda command, name: manager.wrap(command, plan, name))


def under_relay(manager):
    """Under ``tessera run --share space``: no context of its own, calls relayed to the executor."""
    return Placement("space", manager.environment, lambda command, name: manager.wrap(command, name=name, share="space"))


class Bench:
    """Workload processes of one suite. ``close`` ends all of them; use as a context manager.

    :param workloads: folder of the workload programs
    :param logs: folder for their stderr
    """

    def __init__(self, workloads, logs):
        self._workloads = workloads
        self._logs = logs
        self._workers = []

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()

    def close(self):
        """Ends all processes that were started here."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.close()

    def start(self, placement, workload, *options, name=None, environment=None, ready_timeout_s=READY_TIMEOUT_S):
        """Starts a workload; wait for it with ``ready``, so that several start at once."""
        label = name or f"{placement.name}-{workload}"
        command = [sys.executable, os.path.join(self._workloads, f"{workload}.py"), "--interactive", *options]
        worker = Worker.start(
            label,
            placement.wrap(command, label),
            {**placement.environment, **(environment or {})},
            os.path.join(self._logs, f"{label}.log"),
            ready_timeout_s,
        )
        self._workers.append(worker)
        return worker


def measure(workers, seconds, settle_s=SETTLE_S):
    """One window of workers that step at the same time.

    Returns their rates in steps a second over the common window, in order, and the bins for the record.
    """
    runs = run_together(workers, seconds + settle_s)
    begin, end = common_window(runs, int(settle_s * NS))
    rates = [run.rate(begin, end) for run in runs]
    return rates, [run.bins(begin, end, BIN_NS) for run in runs]


def measure_windows(workers, settle_s, window_s, count, during=None):
    """One long run: a settling time, then windows in a row.

    ``during()`` is called ten times a second while they run. Returns the rates per window as a list of lists, the
    rates over the whole run with the settling time, and the bins.
    """
    total_s = settle_s + window_s * count
    for worker in workers:
        worker.go()
    end_s = time.monotonic() + total_s + 0.2
    while time.monotonic() < end_s:
        if during is not None:
            during()
        time.sleep(min(0.1, max(0.0, end_s - time.monotonic())))
    for worker in workers:
        worker.stop()
    runs = [worker.collect() for worker in workers]
    whole_begin, end = common_window(runs)
    begin = whole_begin + int(settle_s * NS)
    windows = split(begin, end, int(window_s * NS))[:count]
    per_window = [[run.rate(*window) for run in runs] for window in windows]
    whole = [run.rate(whole_begin, end) for run in runs]
    return per_window, whole, [run.bins(whole_begin, end, BIN_NS) for run in runs]
