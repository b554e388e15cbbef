"""Kernels as torch.compile writes them: ``TRITON_DISABLE_LINE_INFO=1 python3 triton_kernels.py OUT`` writes OUT/NAME.ptx.

Those beside this file were made with Triton 3.6.0 for capability 9.0; it needs no GPU. ``cases`` says how they are launched: a
block has 32 threads for each of ``num_warps``, and the last two parameters are scratch pointers that they do not use.
"""

import os
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def tritonPointwise(in0, in1, out, xnumel, XBLOCK: tl.constexpr):
    index = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    mask = index < xnumel
    a = tl.load(in0 + index, mask)
    b = tl.load(in1 + index % 1024, mask, eviction_policy="evict_last")
    x = a + b
    tl.store(out + index, x * 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)), mask)


@triton.jit
def tritonSoftmax(in0, out, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    x = (tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK))[:, None]
    r = tl.arange(0, RBLOCK)[None, :]
    mask = (x < xnumel) & (r < rnumel)
    v = tl.load(in0 + (r + rnumel * x), mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(out + (r + rnumel * x), e / tl.sum(e, 1)[:, None], mask)


@triton.jit
def tritonLayerNorm(in0, in1, in2, out, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    x = (tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK))[:, None]
    rows = tl.arange(0, RBLOCK)[None, :]
    mean = tl.full([XBLOCK, RBLOCK], 0, tl.float32)
    square = tl.full([XBLOCK, RBLOCK], 0, tl.float32)
    for offset in range(0, rnumel, RBLOCK):
        r = offset + rows
        mask = (r < rnumel) & (x < xnumel)
        v = tl.load(in0 + (r + rnumel * x), mask, other=0.0, eviction_policy="evict_last").to(tl.float32)
        mean += v
        square += v * v
    m = tl.sum(mean, 1)[:, None] / rnumel
    s = tl.rsqrt(tl.sum(square, 1)[:, None] / rnumel - m * m + 1e-5)
    for offset in range(0, rnumel, RBLOCK):
        r = offset + rows
        mask = (r < rnumel) & (x < xnumel)
        v = tl.load(in0 + (r + rnumel * x), mask, other=0.0, eviction_policy="evict_first").to(tl.float32)
        w = tl.load(in1 + r, r < rnumel, other=0.0, eviction_policy="evict_last")
        b = tl.load(in2 + r, r < rnumel, other=0.0, eviction_policy="evict_last")
        tl.store(out + (r + rnumel * x), (v - m) * s * w + b, mask)


@triton.jit
def tritonTranspose(in0, out, ynumel, xnumel, YBLOCK: tl.constexpr, XBLOCK: tl.constexpr):
    y = (tl.program_id(1) * YBLOCK + tl.arange(0, YBLOCK))[:, None]
    x = (tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK))[None, :]
    mask = (y < ynumel) & (x < xnumel)
    v = tl.load(in0 + (y + ynumel * x), mask, eviction_policy="evict_last")
    tl.store(out + (x + xnumel * y), v * 2.0, mask)


@triton.jit
def tritonEmbedding(indices, table, out, xnumel, XBLOCK: tl.constexpr):
    index = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:]
    mask = index < xnumel
    word = tl.load(indices + index // 512, mask, eviction_policy="evict_last")
    tl.store(out + index, tl.load(table + (index % 512 + 512 * word), mask), mask)


@triton.jit
def tritonSum(in0, out, xnumel, rnumel, XBLOCK: tl.constexpr, RBLOCK: tl.constexpr):
    x = (tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK))[:, None]
    rows = tl.arange(0, RBLOCK)[None, :]
    total = tl.full([XBLOCK, RBLOCK], 0, tl.float32)
    for offset in range(0, rnumel, RBLOCK):
        r = offset + rows
        mask = (r < rnumel) & (x < xnumel)
        total = tl.where(mask, total + tl.load(in0 + (x + xnumel * r), mask, other=0.0, eviction_policy="evict_first"), total)
    tl.store(out + x, tl.sum(total, 1)[:, None], x < xnumel)


@triton.jit
def tritonMatmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    left = a + (m[:, None] * K + k[None, :])
    right = b + (k[:, None] * N + n[None, :])
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total += tl.dot(tl.load(left), tl.load(right), input_precision="ieee")
        left += BK
        right += BK * N
    tl.store(c + (m[:, None] * N + n[None, :]), total)


F, I = "*fp32", "*i32"
KERNELS = (
    (tritonPointwise, {"in0": F, "in1": F, "out": F, "xnumel": "i32"}, {"XBLOCK": 1024}, 4),
    (tritonSoftmax, {"in0": F, "out": F, "xnumel": "i32", "rnumel": "i32"}, {"XBLOCK": 1, "RBLOCK": 1024}, 4),
    (
        tritonLayerNorm,
        {"in0": F, "in1": F, "in2": F, "out": F, "xnumel": "i32", "rnumel": "i32"},
        {"XBLOCK": 1, "RBLOCK": 1024},
        4,
    ),
    (tritonTranspose, {"in0": F, "out": F, "ynumel": "i32", "xnumel": "i32"}, {"YBLOCK": 32, "XBLOCK": 32}, 4),
    (tritonEmbedding, {"indices": I, "table": F, "out": F, "xnumel": "i32"}, {"XBLOCK": 1024}, 4),
    (tritonSum, {"in0": F, "out": F, "xnumel": "i32", "rnumel": "i32"}, {"XBLOCK": 64, "RBLOCK": 32}, 8),
    (
        tritonMatmul,
        {"a": F, "b": F, "c": F, "M": "i32", "N": "i32", "K": "i32"},
        {"BM": 64, "BN": 64, "BK": 32},
        8,
    ),
)


def main(folder):
    """Compiles all, and prints the shared memory that each needs."""
    for function, signature, constants, warps in KERNELS:
        whole = {**signature, **{name: "constexpr" for name in constants}}
        # As torch.compile does: pointers and counts that are multiples of 16 are said to be.
        divisible = {(index,): [["tt.divisibility", 16]] for index in range(len(signature))}
        source = ASTSource(function, whole, {(list(whole).index(name),): value for name, value in constants.items()}, divisible)
        kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": warps})
        with open(os.path.join(folder, f"{function.__name__}.ptx"), "w", encoding="ascii") as file:
            file.write(kernel.asm["ptx"])
        print(function.__name__, "shared", kernel.metadata.shared, "warps", warps)


if __name__ == "__main__":
    main(sys.argv[1])
