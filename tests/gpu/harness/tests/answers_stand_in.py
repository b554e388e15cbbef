"""A stand-in for workloads/answers.py and answer_programs.py: answers, and lines of TESSERA_TRACE, that depend on the way."""

import json
import os
import sys

from operators_stand_in import _relayed

relayed = _relayed()
plans = sys.argv[0].endswith("fft_bits.py")
if plans:
    print(json.dumps({"digests": {"5 × 6": "text" if relayed or "CUDA_FORCE_PTX_JIT" in os.environ else "code", "8 × 8": "same"}}))
if "TESSERA_TRACE" in os.environ and "--names" not in sys.argv:
    blocks = 3 if relayed else 4
    with open(os.environ["TESSERA_TRACE"], "w", encoding="ascii") as trace:
        for entry, result, arguments, told in (
            ("cuDeviceGetAttribute", 0, "7fff0 10 0", "0=132"),
            ("cuLibraryGetKernel", 0, f"7fff8 {'a1' if relayed else 'b2'}0000 7fff9", f"0={'c3' if relayed else 'd4'}0000 2=add"),
            ("cuKernelGetFunction", 0, f"7fff8 {'c3' if relayed else 'd4'}0000 0", f"0={'e5' if relayed else 'f6'}0000"),
            ("cuOccupancyMaxActiveBlocksPerMultiprocessor", 0, f"7fff0 {'e5' if relayed else 'f6'}0000 80", f"0={blocks}"),
            ("cuLaunchKernel_ptsz", 0, f"{'e5' if relayed else 'f6'}0000 {blocks:x} 1 1 80 1 1 {'ffff' * 2}00000000", ""),
        ):
            words = (arguments.split() + ["0"] * 8)[:8]
            trace.write(f"1 2 {entry} {result} {' '.join(words)} 0 0 {told}".rstrip() + "\n")
        trace.write("1 2 cuHalf")
elif not plans:
    answers = {
        "device attribute 16": "132", "device attribute 83": "0" if relayed else "1", "memory free, GiB": str(os.getpid()),
        "context flags": "8" if relayed else "4", "counter": str(os.getpid()),
    }  # fmt: skip
    print("a library says something")
    print(json.dumps({"answers": answers}))
