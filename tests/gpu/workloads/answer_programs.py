"""Small programs whose driver calls are traced: what PyTorch's libraries ask before they choose a kernel, and what they choose.

    answer_programs.py NAME

Nothing in them depends on time or on what else is on the GPU, so that two runs make the same calls.
"""

import sys


def fft(torch):
    """Transforms of one and more dimensions, some of sizes that are no powers of two."""
    for shape in ((64,), (5, 6), (5, 6, 7), (3, 100, 100), (4, 128, 128), (2, 17, 19)):
        x = torch.randn(shape, device="cuda")
        torch.fft.fftn(x)
        torch.fft.fft(x)
        if len(shape) > 1:
            torch.fft.fft2(x)
            torch.fft.ifft2(x.to(torch.complex64))
            torch.fft.rfft2(x)
            torch.fft.ihfft2(x)


def linalg(torch):
    """Factorisations of small and middling matrices."""
    for size in (2, 5, 64):
        for dtype in (torch.float32, torch.float64, torch.complex64):
            a = torch.randn(size, size, dtype=dtype)
            a = (a @ a.mH + size * torch.eye(size, dtype=dtype)).cuda()
            torch.linalg.cholesky(a)
            torch.linalg.lu_factor(a)
            torch.linalg.solve(a, a)
            torch.linalg.eigh(a)
            torch.linalg.svd(a)


def matmul(torch):
    """cuBLAS in several types and shapes."""
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        for m, n, k in ((5, 5, 5), (64, 64, 64), (1000, 33, 200), (1, 4096, 512)):
            a, b = torch.randn(m, k).to("cuda", dtype), torch.randn(k, n).to("cuda", dtype)
            a @ b
        torch.bmm(torch.ones(8, 32, 16, device="cuda", dtype=dtype), torch.ones(8, 16, 32, device="cuda", dtype=dtype))


def convolution(torch):
    """cuDNN, forward and backward."""
    for dtype in (torch.float32, torch.float16):
        layer = torch.nn.Conv2d(8, 16, 3, padding=1).to("cuda", dtype)
        layer(torch.randn(4, 8, 32, 32).to("cuda", dtype)).float().sum().backward()
    recurrent = torch.nn.LSTM(16, 32, 2).cuda()
    recurrent(torch.randn(5, 3, 16).cuda())[0].sum().backward()


def elementwise(torch):
    """PyTorch's own kernels: element by element, reductions, sorts, scans, random numbers."""
    x = torch.randn(3, 1000).cuda()
    torch.cuda.manual_seed(1)
    for function in (torch.sin, torch.sum, torch.sort, torch.topk, torch.cumsum, torch.softmax, torch.unique, torch.dropout, torch.nonzero):
        extra = {torch.topk: (5,), torch.cumsum: (1,), torch.softmax: (1,), torch.dropout: (0.5, True)}.get(function, ())
        function(x, *extra)
    torch.nn.functional.scaled_dot_product_attention(*(torch.randn(2, 4, 32, 16).half().cuda() for _ in range(3)))
    torch.bincount(torch.arange(100).cuda() % 7)


PROGRAMS = (fft, linalg, matmul, convolution, elementwise)


def main(names):
    """Runs the named programs."""
    import torch

    torch.manual_seed(0)
    for program in PROGRAMS:
        if program.__name__ in names:
            program(torch)
            torch.cuda.synchronize()
            print(f"{program.__name__} done", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
