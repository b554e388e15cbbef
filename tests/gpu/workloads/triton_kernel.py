"""A loop over one Triton kernel: Triton compiles at run time and launches through the driver API itself."""

import triton
import triton.language as tl

from training import main

ELEMENTS = 1 << 20
BLOCK = 1024
KERNELS_PER_STEP = 20


@triton.jit
def scale_and_add(x, y, n, BLOCK_SIZE: tl.constexpr):
    """y = x / 2 + y, for n elements."""
    offsets = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    inside = offsets < n
    tl.store(y + offsets, 0.5 * tl.load(x + offsets, inside) + tl.load(y + offsets, inside), inside)


class KernelLoop:
    """The step that the trainer calls: a chain of launches on two buffers; its loss is the second one's mean."""

    def __init__(self, torch):
        self._x = torch.randn(ELEMENTS, device="cuda")
        self._y = torch.zeros(ELEMENTS, device="cuda")
        self._grid = (triton.cdiv(ELEMENTS, BLOCK),)

    def step(self):
        """Submits the launches of one step and returns the mean as a tensor."""
        for _ in range(KERNELS_PER_STEP):
            scale_and_add[self._grid](self._x, self._y, ELEMENTS, BLOCK_SIZE=BLOCK)
        return self._y.mean()

    def state(self):
        """The buffer that the kernels change."""
        return [self._y]


if __name__ == "__main__":
    main("triton_kernel", KernelLoop)
