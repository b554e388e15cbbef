"""cuFFT without PyTorch: digests of two-dimensional transforms, to tell by which code they were made.

    fft_bits.py

Prints ``{"digests": {SHAPE: DIGEST}}``. With ``CUDA_FORCE_PTX_JIT=1`` the driver takes the library's text in place of its machine
code, as an executor does that fences: a result that equals that one and not the other comes from the text.
"""

import ctypes
import glob
import hashlib
import json
import os
import struct
import sys

C2C, FORWARD, TO_DEVICE, TO_HOST = 0x29, -1, 1, 2
SHAPES = ((5, 6), (3, 10), (64, 64), (100, 100), (17, 19), (128, 96))


def _library(name):
    patterns = [os.path.join(folder, "nvidia", "*", "lib", f"{name}.so.1?") for folder in sys.path]
    found = sorted(path for pattern in patterns for path in glob.glob(pattern))
    if not found:
        raise SystemExit(f"{name} is not among the libraries that came with PyTorch")
    return ctypes.CDLL(found[-1], mode=ctypes.RTLD_GLOBAL)


def _check(what, result):
    if result != 0:
        raise SystemExit(f"{what} answered {result}")


def _numbers(count):
    state, words = 12345, []
    for _ in range(2 * count):
        state = (1103515245 * state + 12345) & 0x7FFFFFFF
        words.append(state / 0x40000000 - 1.0)
    return struct.pack(f"<{len(words)}f", *words)


def transformed(runtime, fft, rows, columns):
    """The digest of one transform of numbers that depend on nothing."""
    data = _numbers(rows * columns)
    device, plan, back = ctypes.c_void_p(), ctypes.c_int(), ctypes.create_string_buffer(len(data))
    _check("cudaMalloc", runtime.cudaMalloc(ctypes.byref(device), ctypes.c_size_t(len(data))))
    _check("cudaMemcpy", runtime.cudaMemcpy(device, data, ctypes.c_size_t(len(data)), TO_DEVICE))
    _check("cufftPlan2d", fft.cufftPlan2d(ctypes.byref(plan), rows, columns, C2C))
    _check("cufftExecC2C", fft.cufftExecC2C(plan, device, device, FORWARD))
    _check("cudaMemcpy", runtime.cudaMemcpy(back, device, ctypes.c_size_t(len(data)), TO_HOST))
    _check("cufftDestroy", fft.cufftDestroy(plan))
    _check("cudaFree", runtime.cudaFree(device))
    return hashlib.sha256(back.raw).hexdigest()[:16]


def main():
    """All shapes."""
    runtime = _library("libcudart")
    fft = _library("libcufft")
    print(json.dumps({"digests": {f"{rows} × {columns}": transformed(runtime, fft, rows, columns) for rows, columns in SHAPES}}))


if __name__ == "__main__":
    main()
