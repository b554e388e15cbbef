"""Bound by memory: each step multiplies 12 GiB of numbers in place; at most three steps are queued."""

from queued import QueuedTask
from training import main

BYTES = 12 << 30
DEPTH = 3


class StreamTask(QueuedTask):
    """Reads and writes one tensor."""

    def __init__(self, torch):
        super().__init__(torch, DEPTH)
        self._values = torch.ones(BYTES // 4, device="cuda")

    def submit(self):
        """One pass over the tensor."""
        return self._values.mul_(0.9999)[0]

    def state(self):
        """The first values."""
        return [self._values[:1024]]


if __name__ == "__main__":
    main("stream", StreamTask)
