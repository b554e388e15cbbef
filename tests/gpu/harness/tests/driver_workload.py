"""A stand-in for a training that makes real driver calls, for a warm-up of the suites without a GPU.

Each step launches through ``libcuda.so.1``, as a CUDA program does, and then sleeps. Under Tessera that library is the
preload library on the driver that TESSERA_DRIVER names; natively it is the driver that REHEARSAL_DRIVER names.
"""

import argparse
import ctypes
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from paced_workload import LAUNCHES_PER_STEP, PacedTrainer, Session  # noqa: E402  (the path has to be set first)


class DriverTrainer(PacedTrainer):
    """Steps that launch through the driver's interface."""

    def __init__(self, step_s):
        super().__init__(step_s)
        preloaded = "libcuda.so.1" in os.environ.get("LD_PRELOAD", "")
        self._driver = ctypes.CDLL("libcuda.so.1" if preloaded else os.environ["REHEARSAL_DRIVER"])
        context = ctypes.c_void_p()
        self._check("cuInit", self._driver.cuInit(0))
        self._check("cuDevicePrimaryCtxRetain", self._driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self._check("cuCtxSetCurrent", self._driver.cuCtxSetCurrent(context))
        self._driver.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint] * 7 + [ctypes.c_void_p] * 3
        self.step()

    @staticmethod
    def _check(name, result):
        if result != 0:
            raise RuntimeError(f"{name} answered {result}")

    def step(self):
        """Launches, then sleeps."""
        for _ in range(LAUNCHES_PER_STEP):
            self._check("cuLaunchKernel", self._driver.cuLaunchKernel(8, 1, 1, 1, 32, 1, 1, 0, None, None, None))
        super().step()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--interactive", action="store_true")
    parser.parse_known_args()
    Session(DriverTrainer(0.005)).serve()
