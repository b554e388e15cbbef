"""A training that fills as much memory as it is told: many matrices, a few of which each step multiplies and changes.

``WIDE_GIB`` says how much memory; ``WIDE_HOST_SHARE`` for how much of the time the host works alone (0 or 0.5: phases of
``WIDE_PHASE_S`` seconds in turn, those of the device as ``WIDE_PHASE_STEPS`` says in steps: a program that waits for the
device has no less to do on it). All of the memory is live, and every matrix is used again after some steps.
"""

import os
import time

from training import Task, main

WIDTH = 4096
MATRIX_BYTES = WIDTH * WIDTH * 4
PER_STEP = 8
ROWS = 2048


class WideTask(Task):
    """Steps over the matrices in rotation. The state is one exact sum of the bits of each matrix."""

    def __init__(self, torch, gib, host_share, phase_s, phase_steps):
        self._torch = torch
        count = max(PER_STEP, int(gib * (1 << 30) / MATRIX_BYTES) - 2)
        self._matrices = [
            torch.full((WIDTH, WIDTH), 1.0 / WIDTH, device="cuda", dtype=torch.float32) for _ in range(count)
        ]
        for index, matrix in enumerate(self._matrices):
            matrix.add_(index * 1e-9)
        self._inputs = torch.randn(ROWS, WIDTH, device="cuda")
        self._next = 0
        self._host_share = host_share
        self._phase_s = phase_s
        self._phase_steps = phase_steps
        self._phase_began = time.monotonic()
        self._steps = 0
        super().__init__(None, None, self._inputs, None)

    def step(self):
        """Eight products, each of which changes its matrix; now and then a phase of the host."""
        self._take_host_phase()
        output = self._inputs
        for _ in range(PER_STEP):
            matrix = self._matrices[self._next]
            self._next = (self._next + 1) % len(self._matrices)
            output = output @ matrix
            matrix.mul_(0.9999).add_(output[0, 0] * 1e-9)
        return output.mean()

    def _take_host_phase(self):
        if not self._host_share:
            return
        self._steps += 1
        if self._phase_steps and self._steps <= self._phase_steps:
            return
        if not self._phase_steps and time.monotonic() - self._phase_began < self._phase_s:
            return
        self._torch.cuda.synchronize()
        time.sleep(self._phase_s * self._host_share / (1 - self._host_share))
        self._phase_began = time.monotonic()
        self._steps = 1

    def state(self):
        """Sums of the bits of the matrices as integers: equal only if, but for rare chances, every bit is."""
        torch = self._torch
        return [matrix.view(torch.int32).sum(dtype=torch.int64) for matrix in self._matrices]


def build(torch):
    """The task on the current CUDA device."""
    return WideTask(
        torch,
        float(os.environ.get("WIDE_GIB", "1")),
        float(os.environ.get("WIDE_HOST_SHARE", "0")),
        float(os.environ.get("WIDE_PHASE_S", "4")),
        int(os.environ.get("WIDE_PHASE_STEPS", "0")),
    )


if __name__ == "__main__":
    main("wide", build)
