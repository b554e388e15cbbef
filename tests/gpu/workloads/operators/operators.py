"""Runs PyTorch's databases of operators, modules and optimizers on a device and keeps what comes out, bit by bit.

    operators.py --values FILE [--device cuda] [--samples 4] [--dtypes float32,...] [--only NAME,...] [--shard 1/4]
                 [--skip N] [--count N] [--reverse] [--from 0]

Prints ``{"cases": N}`` once the device is in use, then for each case ``{"begin": PLACE, "case": NAME}`` and a line with what it gave: digests of
inputs, results and gradients, where FILE holds their bytes, the class of an error, and how long the first sample and all
took. Ends with status 3 behind a case that lost the context: its caller goes on behind that case with ``--from``.
"""

import argparse
import fnmatch
import json
import os
import random
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from operator_cases import DTYPES, cases  # noqa: E402  (the path has to be set first)
from operator_values import Values, digest  # noqa: E402

CONTEXT_LOST = 3
DETAIL = 200


def _arguments(words):
    parser = argparse.ArgumentParser()
    parser.add_argument("--values", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--samples", type=int, default=4)
    parser.add_argument("--dtypes", default=",".join(DTYPES))
    parser.add_argument("--only", default="", help="names of operators, modules or optimizers, or of cases; * stands for anything")
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--skip", type=int, default=0, help="leave out this many of the first")
    parser.add_argument("--count", type=int, default=None, help="only this many of the first")
    parser.add_argument("--reverse", action="store_true")
    parser.add_argument("--from", dest="first", type=int, default=0)
    return parser.parse_args(words)


def chosen(names, only, shard, skip, count, reverse):
    """The places of the cases to run, in the order in which they run. Every process gets the same for the same words."""
    patterns = [pattern for pattern in only.split(",") if pattern]

    def named(name):
        return any(fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name.split("/")[1], pattern) for pattern in patterns)

    part, parts = (int(number) for number in shard.split("/"))
    if not 1 <= part <= parts:
        raise ValueError(f"shard {shard}: the first number is 1 to {parts}")
    places = [place for place, name in enumerate(names) if not patterns or named(name)]
    places = [place for order, place in enumerate(places) if order % parts == part - 1][skip:][:count]
    return places[::-1] if reverse else places


class Runner:
    """Runs cases on one device.

    :param samples: most sample inputs of a case
    """

    def __init__(self, torch, device, samples, values):
        self._torch = torch
        self._device = device
        self._samples = samples
        self._values = values

    def _wait(self):
        if self._device != "cpu":
            self._torch.cuda.synchronize()

    def lost(self):
        """Whether the context is."""
        try:
            self._wait()
            return False
        except Exception:  # whatever it is: nothing works any more
            return True

    def _seed(self, seed):
        """Of all generators that sample inputs are made with."""
        import numpy

        random.seed(seed)
        numpy.random.seed(seed % 2**32)
        self._torch.manual_seed(seed)

    def _made(self, case):
        """Sample inputs; on the device where they cannot be made on the CPU, or where there are none for it."""
        torch = self._torch
        for place in ("cpu", self._device):
            self._seed(case.seed)
            try:
                made = case.make(place, self._samples)
            except Exception:
                if place == self._device:
                    raise
                continue
            if made:
                return made
        return []

    def run(self, case):
        """All samples of a case, as what is printed of it."""
        answer = {"outputs": [], "errors": [], "inputs": [], "first_ms": None, "ms": 0.0}
        try:
            made = self._made(case)
        except Exception as failed:
            return {**answer, "errors": [["make", type(failed).__name__, str(failed)[:DETAIL]]]}
        for number, sample in enumerate(made):
            answer["inputs"].append(self._inputs(sample))
            begun = time.perf_counter()
            try:
                results, gradients = case.call(sample, self._device, case.seed + number)
                self._wait()
                self._count(answer, begun)
                kept = self._values.keep("out", results, case.defined)
                answer["outputs"].append(kept + self._values.keep("grad", gradients))
            except Exception as failed:
                self._count(answer, begun)
                answer["outputs"].append([])
                answer["errors"].append([number, type(failed).__name__, str(failed)[:DETAIL]])
                if self.lost():
                    return {**answer, "lost": True}
        return answer

    @staticmethod
    def _count(answer, begun):
        took = 1000 * (time.perf_counter() - begun)
        answer["ms"] = round(answer["ms"] + took, 3)
        if answer["first_ms"] is None:
            answer["first_ms"] = round(took, 3)

    def _inputs(self, sample):
        """A digest of what a sample holds; of a configuration there is nothing random to compare."""
        held = [getattr(sample, name, None) for name in ("input", "args", "kwargs")]
        if hasattr(sample, "forward_input"):
            held = [sample.forward_input.args, sample.forward_input.kwargs]
        return digest(self._torch, held)


def main(words):
    """Runs the chosen cases from the named one on."""
    options = _arguments(words)
    # PyTorch's test code reads the command line when it is imported.
    sys.argv[1:] = []
    warnings.simplefilter("ignore")
    import torch

    # Results of the CPU must not depend on the number of threads.
    torch.set_num_threads(1)
    every = cases(torch, options.dtypes.split(","), options.device)
    places = chosen([case.name for case in every], options.only, options.shard, options.skip, options.count, options.reverse)
    # What starting costs is not a case's.
    torch.ones(8, device=options.device).sum().item()
    print(json.dumps({"cases": len(places)}), flush=True)
    values = Values(torch, options.values)
    runner = Runner(torch, options.device, options.samples, values)
    for order, place in list(enumerate(places))[options.first :]:
        case = every[place]
        print(json.dumps({"begin": order, "case": case.name}), flush=True)
        answer = runner.run(case)
        values.flush()
        print(json.dumps({"end": order, "case": case.name, **answer}), flush=True)
        if answer.get("lost"):
            # Not through the interpreter's end: what frees device memory there would only fail.
            os._exit(CONTEXT_LOST)
    values.close()


if __name__ == "__main__":
    main(sys.argv[1:])
