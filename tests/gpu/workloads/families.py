"""What PyTorch programs ask of a driver, one case after the other: each computes something and compares it.

    families.py [CASE...]     prints one JSON object a case: {"case", "ok", "detail"}

Cases that change a process for good (allocator settings, device asserts) run in a process of their own, started by the
suite with the case's name.
"""

import json
import os
import sys
import tempfile
import threading

CASES = {}


def case(function):
    """Registers a case under its function's name."""
    CASES[function.__name__] = function
    return function


def close(torch, a, b, tolerance=1e-4):
    """Raises unless two tensors agree."""
    torch.testing.assert_close(a.detach().cpu().float(), b.detach().cpu().float(), rtol=tolerance, atol=tolerance)


@case
def train_step(torch):
    """A step of a small network, against the CPU."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    x = torch.randn(32, 64)
    other = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
    other.load_state_dict(model.state_dict())
    other.cuda()
    for one, data in ((model, x), (other, x.cuda())):
        optimizer = torch.optim.SGD(one.parameters(), lr=0.1)
        one(data).square().mean().backward()
        optimizer.step()
    close(torch, other[0].weight, model[0].weight)


@case
def convolution(torch):
    """cuDNN forward and backward, half precision too."""
    layer = torch.nn.Conv2d(3, 8, 3)
    x = torch.randn(2, 3, 32, 32)
    expected = layer(x)
    close(torch, layer.cuda()(x.cuda()), expected, 1e-2)
    layer.half()(x.cuda().half()).float().sum().backward()


@case
def cuda_graph(torch):
    """Capture and replay with changed inputs."""
    x = torch.ones(1024, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        (x * 2 + 1).sum()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = (x * 2 + 1).sum()
    for value in (3.0, 5.0):
        x.fill_(value)
        graph.replay()
        assert y.item() == 1024 * (2 * value + 1), y.item()


@case
def cuda_graph_matmul(torch):
    """cuBLAS inside a graph."""
    a, b = torch.randn(256, 256, device="cuda"), torch.randn(256, 256, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            a @ b
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        c = a @ b
    a.copy_(torch.randn(256, 256))
    graph.replay()
    close(torch, c, a.cpu() @ b.cpu(), 1e-2)


@case
def compiled(torch):
    """torch.compile with Inductor and Triton."""
    function = torch.compile(lambda x: torch.sin(x) * 2 + x.square())
    x = torch.randn(4096, device="cuda")
    close(torch, function(x), torch.sin(x.cpu()) * 2 + x.cpu().square())


@case
def compiled_reduce_overhead(torch):
    """torch.compile on top of CUDA graphs."""
    function = torch.compile(lambda x: (torch.sin(x) * 2).sum(), mode="reduce-overhead")
    x = torch.randn(4096, device="cuda")
    for _ in range(4):
        result = function(x).clone()
    close(torch, result, (torch.sin(x.cpu()) * 2).sum(), 1e-3)


@case
def triton_kernel(torch):
    """A Triton kernel: its launcher calls the driver itself."""
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    from triton_kernel import KernelLoop

    loop = KernelLoop(torch)
    x, y = loop._x.cpu(), loop._y.cpu()
    got = loop.step()
    for _ in range(20):
        y = 0.5 * x + y
    close(torch, got, y.mean(), 1e-3)


@case
def streams_and_events(torch):
    """Two streams, an event between them, and its time."""
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    with torch.cuda.stream(first):
        begin.record()
        x = torch.randn(2048, 2048, device="cuda")
        y = x @ x
        end.record()
    second.wait_event(end)
    with torch.cuda.stream(second):
        z = y + 1
    second.synchronize()
    assert end.query() and begin.elapsed_time(end) > 0
    close(torch, z, y.cpu() + 1)


@case
def fft(torch):
    """cuFFT."""
    x = torch.randn(4096)
    close(torch, torch.view_as_real(torch.fft.fft(x.cuda())), torch.view_as_real(torch.fft.fft(x)), 1e-2)


@case
def linalg(torch):
    """cuSOLVER: solve, singular values, Cholesky."""
    a = torch.randn(64, 64, dtype=torch.float64)
    a = a @ a.T + 64 * torch.eye(64, dtype=torch.float64)
    b = torch.randn(64, 3, dtype=torch.float64)
    close(torch, torch.linalg.solve(a.cuda(), b.cuda()), torch.linalg.solve(a, b))
    close(torch, torch.linalg.svdvals(a.cuda()), torch.linalg.svdvals(a), 1e-3)
    close(torch, torch.linalg.cholesky(a.cuda()), torch.linalg.cholesky(a))


@case
def sparse(torch):
    """cuSPARSE."""
    a = torch.eye(128).to_sparse_csr()
    b = torch.randn(128, 16)
    close(torch, a.cuda() @ b.cuda(), b)


@case
def random_numbers(torch):
    """Philox on the device: same seed, same numbers."""
    torch.cuda.manual_seed(7)
    first = torch.randn(1000, device="cuda")
    torch.cuda.manual_seed(7)
    assert torch.equal(first, torch.randn(1000, device="cuda"))


@case
def pinned_loader(torch):
    """A loader with workers and pinned memory."""
    data = torch.utils.data.TensorDataset(torch.arange(256).float())
    loader = torch.utils.data.DataLoader(data, batch_size=32, num_workers=2, pin_memory=True)
    total = sum(batch[0].to("cuda", non_blocking=True).sum() for batch in loader)
    assert total.item() == 256 * 255 / 2


@case
def copies(torch):
    """Pageable and pinned, both ways, strided, and overlapping work."""
    x = torch.randn(3 << 20)
    assert torch.equal(x.cuda().cpu(), x)
    pinned = x.pin_memory()
    device = torch.empty_like(x, device="cuda")
    device.copy_(pinned, non_blocking=True)
    back = torch.empty_like(x).pin_memory()
    back.copy_(device, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(back, x)
    wide = torch.randn(100, 200)
    assert torch.equal(wide.cuda()[:, ::3].t().contiguous().cpu(), wide[:, ::3].t())


@case
def threads(torch):
    """Four host threads at once, each with its stream."""
    failures = []

    def work(seed):
        try:
            with torch.cuda.stream(torch.cuda.Stream()):
                x = torch.full((512, 512), float(seed), device="cuda")
                for _ in range(20):
                    x = x + 1
                assert x.sum().item() == 512 * 512 * (seed + 20.0)
        except BaseException as failed:  # handed to the main thread
            failures.append(failed)

    pool = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for one in pool:
        one.start()
    for one in pool:
        one.join(60)
    assert not failures and not any(one.is_alive() for one in pool), failures


@case
def memory_figures(torch):
    """mem_get_info follows allocations."""
    free, total = torch.cuda.mem_get_info()
    block = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    after, _ = torch.cuda.mem_get_info()
    assert 0 < free <= total and free - after >= 256 << 20, (free, after, total)
    del block
    torch.cuda.empty_cache()


@case
def out_of_memory(torch):
    """More than there is: the ordinary exception, and work goes on."""
    try:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError:
        assert torch.ones(8, device="cuda").sum().item() == 8
        return
    raise AssertionError("a petabyte was allocated")


@case
def save_and_load(torch):
    """A checkpoint of device tensors."""
    with tempfile.NamedTemporaryFile() as file:
        x = torch.randn(1000, device="cuda")
        torch.save(x, file.name)
        assert torch.equal(torch.load(file.name), x)


@case
def inline_cuda(torch):
    """A kernel by NVRTC through torch.cuda's own compiler."""
    source = 'extern "C" __global__ void twice(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }'
    kernel = torch.cuda._compile_kernel(source, "twice")
    x = torch.ones(1000, device="cuda")
    kernel((4, 1, 1), (256, 1, 1), (x, 1000))
    assert x.sum().item() == 2000


@case
def expandable_segments(torch):
    """PyTorch's own virtual memory management (PYTORCH_CUDA_ALLOC_CONF)."""
    blocks = [torch.full((8 << 20,), float(i), device="cuda") for i in range(8)]
    assert [int(block[5].item()) for block in blocks] == list(range(8))
    assert any(segment.get("is_expandable") for segment in torch.cuda.memory_snapshot())


@case
def malloc_async(torch):
    """The driver's stream-ordered allocator as PyTorch's backend."""
    assert torch.cuda.get_allocator_backend() == "cudaMallocAsync"
    total = sum(torch.full((1 << 20,), float(i), device="cuda").sum() for i in range(8))
    assert total.item() == (1 << 20) * 28


def _receive_and_change(arrived, sent):
    """The other process of shared_tensors: checks what comes, changes it in place, and sends a tensor of its own."""
    import torch

    whole, small, part = arrived.get(timeout=60)
    sums = (whole.sum(dtype=torch.float64).item(), small.sum().item(), part.tolist())
    whole.add_(1)
    small.mul_(3)
    torch.cuda.synchronize()
    own = torch.full((1 << 20,), 5.0, device="cuda")
    torch.cuda.synchronize()
    sent.put((sums, own))
    assert arrived.get(timeout=60) == "changed"
    sent.put(own.sum().item())
    assert arrived.get(timeout=60) == "released"  # it must outlive the other's use
    del whole, small, part


@case
def shared_tensors(torch):
    """CUDA tensors between two processes through queues (legacy IPC), both ways and in place."""
    import torch.multiprocessing as processes

    whole, small = torch.arange(1 << 20, device="cuda", dtype=torch.float32), torch.ones(10, device="cuda")
    spawning = processes.get_context("spawn")
    there, back = spawning.Queue(), spawning.Queue()
    other = spawning.Process(target=_receive_and_change, args=(there, back), daemon=True)
    other.start()
    torch.cuda.synchronize()
    there.put((whole, small, whole[7:10]))
    sums, theirs = back.get(timeout=120)
    assert sums == ((1 << 19) * ((1 << 20) - 1.0), 10.0, [7.0, 8.0, 9.0]), sums
    assert torch.equal(whole.cpu(), torch.arange(1, (1 << 20) + 1, dtype=torch.float32))
    assert torch.equal(small.cpu(), torch.full((10,), 3.0))
    assert theirs.sum().item() == 5.0 * (1 << 20)
    theirs.fill_(2.0)
    torch.cuda.synchronize()
    there.put("changed")
    assert back.get(timeout=60) == 2.0 * (1 << 20)
    del theirs
    there.put("released")
    other.join(60)
    assert other.exitcode == 0, other.exitcode


@case
def device_assert(torch):
    """An index out of range: a device assert, reported to the program that made it."""
    try:
        torch.zeros(4, device="cuda")[torch.tensor([100], device="cuda")].sum().item()
    except RuntimeError as failed:
        assert "assert" in str(failed) or "CUDA error" in str(failed), failed
        return
    raise AssertionError("no error")


def main():
    """Runs the named cases, or all that can share a process."""
    import torch

    names = sys.argv[1:] or list(CASES)
    for name in names:
        try:
            CASES[name](torch)
            torch.cuda.synchronize() if name != "device_assert" else None
            answer = {"case": name, "ok": True, "detail": ""}
        except BaseException as failed:  # one failing case is one line of the table
            answer = {"case": name, "ok": False, "detail": f"{type(failed).__name__}: {str(failed)[:300]}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
