"""A server that has most of the device's memory and uses 2 GiB of it: a request checks what the one before left, and changes it.

``SERVER_GIB`` says how much memory it has, or ``SERVER_SHARE`` which share of the device. What it uses is spread over all of
it, so that many chunks are moved. ``SERVER_WEIGHTS_GIB`` more are random and never change: each request reads them all. After
``SERVER_FILL_AFTER`` requests it fills all of its memory. A wrong word ends it.
"""

import os

from training import Task, main

USED_BYTES = 2 << 30
PART_BYTES = 64 << 20
WORD_BYTES = 8


class ServerTask(Task):
    """Holds one tensor. Every word of its parts tells its place and how many requests there were."""

    def __init__(self, torch, held_bytes, weights_bytes):
        self._torch = torch
        self._memory = torch.empty(held_bytes, dtype=torch.uint8, device="cuda")
        self._weights = [self._memory[i : i + PART_BYTES].view(torch.int64) for i in range(0, weights_bytes, PART_BYTES)]
        for weights in self._weights:
            weights.random_()
        self._sum = self._weights_sum()
        rest = self._memory[weights_bytes:]
        count = max(1, min(USED_BYTES, len(rest)) // PART_BYTES)
        stride = (len(rest) // count) // WORD_BYTES * WORD_BYTES
        part_bytes = min(PART_BYTES, stride)
        self._parts = [rest[i * stride : i * stride + part_bytes].view(torch.int64) for i in range(count)]
        self._places = torch.arange(part_bytes // WORD_BYTES, dtype=torch.int64, device="cuda")
        self._requests = 0
        for index, part in enumerate(self._parts):
            part.copy_(self._expected(index))
        super().__init__(None, None, None, None)

    def _expected(self, index):
        return self._places * len(self._parts) + (index + 1_000_003 * self._requests)

    def _weights_sum(self):
        total = self._torch.zeros((), dtype=self._torch.int64, device="cuda")
        for weights in self._weights:
            total += weights.sum()
        return int(total)

    def step(self):
        """One request; its loss is how many there were."""
        wrong = self._torch.zeros((), dtype=self._torch.int64, device="cuda")
        for index, part in enumerate(self._parts):
            wrong += (part != self._expected(index)).sum()
        if self._weights_sum() != self._sum:
            raise SystemExit(f"request {self._requests + 1}: the weights have changed")
        if int(wrong):
            raise SystemExit(f"request {self._requests + 1}: {int(wrong)} words of memory are wrong")
        self._requests += 1
        if self._requests == int(os.environ.get("SERVER_FILL_AFTER", "0")):
            self._memory.random_()
            self._sum = self._weights_sum()
        for index, part in enumerate(self._parts):
            part.copy_(self._expected(index))
        return self._torch.tensor(float(self._requests))

    def state(self):
        """One sum over each part."""
        return [part.sum() for part in self._parts]


def build(torch):
    """The task on the current CUDA device."""
    share = float(os.environ.get("SERVER_SHARE", "0.75"))
    total_bytes = torch.cuda.mem_get_info()[1]
    held_bytes = int(float(os.environ["SERVER_GIB"]) * (1 << 30)) if "SERVER_GIB" in os.environ else int(share * total_bytes)
    weights_bytes = int(os.environ.get("SERVER_WEIGHTS_GIB", "0")) << 30
    return ServerTask(torch, held_bytes // PART_BYTES * PART_BYTES, weights_bytes)


if __name__ == "__main__":
    main("server", build)
