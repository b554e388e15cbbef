"""A PyTorch program that starts, uses several libraries for the first time, and says how long each took; then it is idle.

It says so in its ``ready`` line, in seconds: ``start_s`` until PyTorch is loaded and the model is on the device, ``first_s`` for the
first forward pass of resnet50, ``more_s`` for twenty more, and ``other_s`` for one svd, one fft and one sort. Each is waited for.
"""

import os
import time

from session import Session

MORE = 20
MATRIX = 256
ELEMENTS = 1 << 20


class Newcomer:
    """What it took, as the session says it."""

    def __init__(self):
        self._facts = {"pid": os.getpid()}
        self._began = time.monotonic()

    def facts(self):
        """Process id and seconds."""
        return self._facts

    def _over(self, what):
        now = time.monotonic()
        self._facts[what] = now - self._began
        self._began = now

    def begin(self):
        """Everything, in order."""
        import torch

        from resnet50 import PIXELS, resnet50

        model = resnet50(torch).eval().cuda()
        image = torch.randn(1, 3, PIXELS, PIXELS, device="cuda")
        torch.cuda.synchronize()
        self._over("start_s")
        with torch.no_grad():
            model(image).cpu()
            self._over("first_s")
            for _ in range(MORE):
                model(image).cpu()
        self._over("more_s")
        torch.linalg.svd(torch.randn(MATRIX, MATRIX, device="cuda"))[1].cpu()
        torch.fft.fft(torch.randn(ELEMENTS, device="cuda")).abs().sum().cpu()
        torch.sort(torch.randn(ELEMENTS, device="cuda"))[0][:1].cpu()
        self._over("other_s")


if __name__ == "__main__":
    newcomer = Newcomer()
    newcomer.begin()
    Session(newcomer).serve()
