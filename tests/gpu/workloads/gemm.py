"""Products of two square bf16 matrices. ``GEMM_SIZE`` is their width; a step has ``GEMM_PER_STEP`` products, and at most
``GEMM_DEPTH`` steps are queued.
"""

import os

from queued import QueuedTask
from training import main


class GemmTask(QueuedTask):
    """The same product again and again."""

    def __init__(self, torch, size, per_step, depth):
        super().__init__(torch, depth)
        self._per_step = per_step
        self._left, self._right = (torch.randn(size, size, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        self._product = torch.empty_like(self._left)

    def submit(self):
        """The products of one step."""
        for _ in range(self._per_step):
            self._torch.mm(self._left, self._right, out=self._product)
        return self._product[0, 0]

    def state(self):
        """The product's first row."""
        return [self._product[0].float()]


def build(torch):
    """The task on the current CUDA device."""
    sizes = (("GEMM_SIZE", 16384), ("GEMM_PER_STEP", 1), ("GEMM_DEPTH", 3))
    return GemmTask(torch, *(int(os.environ.get(name, default)) for name, default in sizes))


if __name__ == "__main__":
    main("gemm", build)
