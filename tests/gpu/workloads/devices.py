"""PyTorch on two devices, one case after the other: each computes something and compares it with the CPU.

    devices.py [CASE...]     prints one JSON object a case: {"case", "ok", "detail"}

`training` works on whatever device is the first, for programs that see one of several. Cases of several processes start
them from here, one a device.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile

CASES = {}
#: A process of a group that does not answer ends the case.
GROUP_TIMEOUT_S = 25
#: NCCL over sockets of this machine: between devices that do not reach into each other, and without shared host memory.
NET = {
    "NCCL_P2P_DISABLE": "1",
    "NCCL_SHM_DISABLE": "1",
    "NCCL_NET": "Socket",
    "NCCL_IB_DISABLE": "1",
    "NCCL_SOCKET_IFNAME": "lo",
    "NCCL_CUMEM_ENABLE": "0",
    "NCCL_CUMEM_HOST_ENABLE": "0",
    "NCCL_NVLS_ENABLE": "0",
}


def case(function):
    """Registers a case under its function's name."""
    CASES[function.__name__] = function
    return function


def close(torch, a, b, tolerance=1e-4):
    """Raises unless two tensors agree."""
    torch.testing.assert_close(a.detach().cpu().float(), b.detach().cpu().float(), rtol=tolerance, atol=tolerance)


def network(torch):
    """A small network, the same in every process."""
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 8))


@case
def tensors(torch):
    """Tensors on both devices, moved between them in both directions, strided and not."""
    x = torch.randn(512, 256)
    on_0, on_1 = x.to("cuda:0"), x.to("cuda:1")
    close(torch, on_0 @ on_0.T, x @ x.T, 1e-2)
    close(torch, on_1 @ on_1.T, x @ x.T, 1e-2)
    assert on_0.to("cuda:1").device.index == 1
    close(torch, on_0.mul(2).to("cuda:1") + on_1, x * 3)
    close(torch, on_1[:, ::2].to("cuda:0"), x[:, ::2])
    close(torch, on_0.t().to("cuda:1"), x.t())
    on_1.copy_(on_0 * 5)
    close(torch, on_1, x * 5)
    large = torch.arange(1 << 23, device="cuda:0")
    assert torch.equal(large.to("cuda:1").cpu(), torch.arange(1 << 23))


@case
def streams_and_events(torch):
    """Work of one device that waits for the other's, through streams of their own."""
    first, second = torch.cuda.Stream("cuda:0"), torch.cuda.Stream("cuda:1")
    a = torch.zeros(1 << 20, device="cuda:0")
    b = torch.zeros(1 << 20, device="cuda:1")
    torch.cuda.synchronize("cuda:0")
    torch.cuda.synchronize("cuda:1")
    for _ in range(20):
        with torch.cuda.stream(first):
            a.add_(1)
            done = first.record_event()
        with torch.cuda.stream(second):
            second.wait_event(done)
            b.add_(a.to("cuda:1", non_blocking=True))
            back = second.record_event()
        first.wait_event(back)
    torch.cuda.synchronize("cuda:1")
    assert torch.all(b == 20 * 21 / 2), b[:4]
    assert torch.cuda.current_device() == 0


@case
def pinned(torch):
    """One pinned tensor that both devices copy from and to."""
    x = torch.randn(1 << 20).pin_memory()
    for device in ("cuda:0", "cuda:1"):
        there = x.to(device, non_blocking=True)
        back = torch.empty_like(x).pin_memory()
        back.copy_(there * 2, non_blocking=True)
        torch.cuda.synchronize(device)
        close(torch, back, x * 2)


@case
def graphs(torch):
    """A CUDA graph on each device."""
    for device in ("cuda:0", "cuda:1"):
        with torch.cuda.device(device):
            x = torch.ones(4096, device=device)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=torch.cuda.Stream(device)):  # the one it has by itself is the first device's
                y = x * 3 + 1
            x.fill_(2)
            graph.replay()
            close(torch, y, torch.full((4096,), 7.0))


@case
def memory_figures(torch):
    """Each device's memory is counted by itself."""
    before = [torch.cuda.mem_get_info(device)[0] for device in (0, 1)]
    block = torch.empty(256 << 20, dtype=torch.uint8, device="cuda:1")
    after = [torch.cuda.mem_get_info(device)[0] for device in (0, 1)]
    assert block.is_cuda and before[1] - after[1] >= 256 << 20, (before, after)
    assert abs(before[0] - after[0]) < 64 << 20, (before, after)


@case
def model_halves(torch):
    """A network whose halves live on different devices, forward and backward."""
    model, data = network(torch), torch.randn(32, 64)
    other = network(torch)
    front, back = other[:2].to("cuda:0"), other[2:].to("cuda:1")
    model(data).square().mean().backward()
    back(front(data.to("cuda:0")).to("cuda:1")).square().mean().backward()
    close(torch, front[0].weight.grad, model[0].weight.grad)
    close(torch, back[0].weight.grad, model[2].weight.grad)


@case
def data_parallel(torch):
    """nn.DataParallel: replicas by broadcast, inputs scattered, outputs gathered."""
    model, data = network(torch), torch.randn(64, 64)
    parallel = torch.nn.DataParallel(network(torch).to("cuda:0"), device_ids=[0, 1])
    expected, got = model(data), parallel(data.to("cuda:0"))
    close(torch, got, expected)
    expected.square().mean().backward()
    got.square().mean().backward()
    close(torch, parallel.module[0].weight.grad, model[0].weight.grad)


@case
def training(torch):
    """Thirty steps on the first device that is seen; says how many there are and a digest of the losses."""
    model = network(torch).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.randn(32, 64, generator=torch.Generator().manual_seed(3)).cuda()
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        loss = model(data).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    digest = hashlib.sha256(" ".join(losses).encode()).hexdigest()[:16]
    return f"{torch.cuda.device_count()} device, losses {digest}"


def group(backend, extra):
    """One process a device, DistributedDataParallel over the backend; raises what the first failing one said."""
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        for rank in range(2):
            environment = {**os.environ, **extra, "DEVICES_RANK": str(rank), "DEVICES_BACKEND": backend}
            environment["DEVICES_STORE"] = os.path.join(folder, "store")
            command = [sys.executable, os.path.abspath(__file__), "member"]
            processes.append(
                subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            )
        said = []
        try:
            for process in processes:
                said.append(process.communicate(timeout=GROUP_TIMEOUT_S)[0])
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"no answer after {GROUP_TIMEOUT_S} s") from None
        finally:
            for process in processes:
                process.kill()
                process.wait()
    for process, text in zip(processes, said):
        if process.returncode != 0:
            print(text, file=sys.stderr)
            raise RuntimeError(last_error(text) or f"ended with {process.returncode}")


def last_error(text):
    """The line that says why, of a process's output: the last that names an error."""
    lines = [line.strip() for line in text.splitlines() if "Error" in line or "error" in line]
    return lines[-1] if lines else ""


def member(torch):
    """A process of a group: some steps of a replica, whose gradients must be those of the whole batch."""
    import datetime

    rank = int(os.environ["DEVICES_RANK"])
    torch.cuda.set_device(rank)
    store = torch.distributed.FileStore(os.environ["DEVICES_STORE"], 2)
    torch.distributed.init_process_group(
        os.environ["DEVICES_BACKEND"], store=store, rank=rank, world_size=2, timeout=datetime.timedelta(seconds=20)
    )
    data = torch.randn(32, 64, generator=torch.Generator().manual_seed(5))
    alone = network(torch)
    replica = torch.nn.parallel.DistributedDataParallel(network(torch).cuda(rank), device_ids=[rank])
    alone(data).square().mean().backward()
    replica(data[rank * 16 : rank * 16 + 16].cuda(rank)).square().mean().backward()
    close(torch, replica.module[0].weight.grad, alone[0].weight.grad)
    torch.distributed.destroy_process_group()


@case
def ddp_gloo(torch):
    """DistributedDataParallel over Gloo, which sends through the host."""
    group("gloo", {})


@case
def ddp_nccl(torch):
    """DistributedDataParallel over NCCL as it chooses by itself."""
    group("nccl", {"NCCL_DEBUG": "WARN"})


@case
def ddp_nccl_net(torch):
    """DistributedDataParallel over NCCL, through sockets alone."""
    group("nccl", {"NCCL_DEBUG": "WARN", **NET})


def main(names):
    """Runs the cases; an error in one does not stop the next."""
    if "ddp_nccl" not in names and "ddp_nccl_net" not in names:
        os.environ.update(NET)  # DataParallel broadcasts by NCCL where it can
    import torch

    if names == ["member"]:
        member(torch)
        return
    for name in names or list(CASES):
        detail, ok = "", True
        try:
            detail = CASES[name](torch) or ""
        except Exception as failed:  # whatever a case throws is its answer
            ok, detail = False, f"{type(failed).__name__}: {failed}"[-400:]
        print(json.dumps({"case": name, "ok": ok, "detail": detail}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
