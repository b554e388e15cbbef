"""What the trainings have in common: options, variants, warm-up, and the interactive session.

Determinism: with ``--deterministic`` seeds are fixed, PyTorch uses deterministic algorithms where it has them, and
attention takes its plain form, so that two processes on one machine print the same losses to the last digit.
"""

import argparse
import hashlib
import json
import os
import sys
import time

#: Steps before anything is measured, as in the reference measurements.
WARMUP_STEPS = 10
SEED = 20240229

VARIANTS = ("eager", "graph", "compile-reduce-overhead")


class Task:
    """One training task: model, optimiser and a batch that stays on the GPU.

    :param model: the module that is trained
    :param optimizer: its optimiser
    :param inputs: one batch, on the device
    :param loss: function from the model's output to a scalar tensor
    """

    def __init__(self, model, optimizer, inputs, loss):
        self.model = model
        self.optimizer = optimizer
        self.inputs = inputs
        self.loss = loss

    def step(self):
        """One training step, submitted and not waited for. Returns the loss tensor."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.loss(self.model(self.inputs))
        loss.backward()
        self.optimizer.step()
        return loss

    def state(self):
        """The tensors that the steps change: weights, biases, running means."""
        return self.model.state_dict().values()


class Trainer:
    """A warm training in the chosen variant, as the session drives it. One thread."""

    def __init__(self, name, build, variant, deterministic):
        self.name = name
        self.variant = variant
        started_ns = time.monotonic_ns()
        if deterministic:
            # cuBLAS reads this when its handle is created.
            os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        import torch

        self._torch = torch
        if not torch.cuda.is_available():
            raise SystemExit("no CUDA device: this workload measures one")
        torch.manual_seed(SEED)
        if deterministic:
            # Only warned of where there is none: a second native run shows whether it mattered.
            torch.use_deterministic_algorithms(True, warn_only=True)
            torch.backends.cudnn.benchmark = False
            torch.backends.cuda.enable_flash_sdp(False)
            torch.backends.cuda.enable_mem_efficient_sdp(False)
            torch.backends.cuda.enable_cudnn_sdp(False)
        self._task = build(torch)
        self._step = self._prepare(self._task)
        for _ in range(WARMUP_STEPS):
            self._step()
        self.synchronize()
        self._start_seconds = (time.monotonic_ns() - started_ns) / 1e9

    def _prepare(self, task):
        if self.variant == "graph":
            return self._captured(task)
        if self.variant == "compile-reduce-overhead":
            task.model = self._torch.compile(task.model, mode="reduce-overhead")
        return task.step

    def _captured(self, task):
        torch = self._torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                task.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            loss = task.step()

        def replay():
            graph.replay()
            return loss

        return replay

    def step(self):
        """Submits one step."""
        self._step()

    def loss_of_step(self):
        """Submits one step and keeps a copy of its loss on the device."""
        return self._step().detach().clone()

    def readable(self, losses):
        """Losses with all their digits."""
        return [repr(float(loss)) for loss in losses]

    def state_digest(self):
        """SHA-256 over the bytes of all tensors that the steps change; equal only if every bit of them is."""
        digest = hashlib.sha256()
        for tensor in self._task.state():
            digest.update(tensor.detach().cpu().numpy().tobytes())
        return digest.hexdigest()

    def synchronize(self):
        """Waits until the device has nothing left of this process."""
        self._torch.cuda.synchronize()

    def step_clock(self):
        """A clock for one run."""
        from step_clock import EventStepClock

        return EventStepClock(self._torch)

    def launch_counter(self):
        """A CUPTI counter for one window."""
        from launches import LaunchCounter

        return LaunchCounter(self._torch)

    def facts(self):
        """What the harness records about this process."""
        torch = self._torch
        segments = torch.cuda.memory_snapshot() if torch.cuda.get_allocator_backend() == "native" else []
        return {
            "pid": os.getpid(),
            "workload": self.name,
            "variant": self.variant,
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "device": torch.cuda.get_device_name(),
            "allocator": torch.cuda.get_allocator_backend(),
            "expandable": any(segment.get("is_expandable") for segment in segments),
            "start_seconds": self._start_seconds,
        }


def _arguments(name):
    parser = argparse.ArgumentParser(prog=f"{name}.py")
    parser.add_argument("--variant", choices=VARIANTS, default="eager")
    parser.add_argument("--deterministic", action="store_true", help="fixed seeds, deterministic algorithms")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--interactive", action="store_true", help="take commands on stdin (see session.py)")
    how.add_argument("--steps", type=int, help="run this many steps and print the losses")
    how.add_argument("--seconds", type=float, default=3.0, help="run this long and print the rate (default 3)")
    return parser.parse_args()


def _timed(trainer, seconds):
    trainer.synchronize()
    started_ns = time.monotonic_ns()
    end_ns = started_ns + int(seconds * 1e9)
    count = 0
    while time.monotonic_ns() < end_ns:
        trainer.step()
        count += 1
    trainer.synchronize()
    elapsed = (time.monotonic_ns() - started_ns) / 1e9
    return {"steps": count, "seconds": elapsed, "steps_per_second": count / elapsed}


def main(name, build):
    """Entry of a workload: ``build(torch)`` makes its :class:`Task` on the current device."""
    options = _arguments(name)
    trainer = Trainer(name, build, options.variant, options.deterministic)
    if options.interactive:
        from session import Session

        Session(trainer).serve()
        return
    result = trainer.facts()
    if options.steps is not None:
        losses = [trainer.loss_of_step() for _ in range(options.steps)]
        trainer.synchronize()
        result["losses"] = trainer.readable(losses)
        result["state"] = trainer.state_digest()
    else:
        result.update(_timed(trainer, options.seconds))
    json.dump(result, sys.stdout)
    sys.stdout.write("\n")
