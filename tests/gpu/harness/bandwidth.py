"""What the bus gives to pinned copies, each way alone and both at once: what hand-overs of memory are judged by."""

import json
import sys

from harness.bench import native
from harness.child import run_bounded

_BANDWIDTH = """
import json, torch, time
host = torch.empty(1 << 30, dtype=torch.uint8, pin_memory=True)
device = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
def rate(to, source):
    best = 0.0
    for _ in range(5):
        torch.cuda.synchronize()
        begun = time.monotonic()
        to.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        best = max(best, (1 << 30) / (time.monotonic() - begun))
    return best
def both():
    there, away = torch.cuda.Stream(), torch.cuda.Stream()
    other, source = torch.empty_like(device), torch.empty_like(host, pin_memory=True)
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(4)]
    torch.cuda.synchronize()
    for turn in range(8):
        for stream, pair, first in ((there, (device, host), 0), (away, (source, other), 2)):
            with torch.cuda.stream(stream):
                if turn == 0:
                    marks[first].record()
                pair[0].copy_(pair[1], non_blocking=True)
                if turn == 7:
                    marks[first + 1].record()
    torch.cuda.synchronize()
    return [8e3 * (1 << 30) / marks[at].elapsed_time(marks[at + 1]) for at in (0, 2)]
print(json.dumps({"in": rate(device, host), "out": rate(host, device), "both": both()}))
"""


def pinned_bandwidth():
    """Bytes per second ``in`` and ``out`` alone (best of 5), and ``both``: in and out while the other goes on."""
    status, out, err = run_bounded([sys.executable, "-c", _BANDWIDTH], native().environment, 60)
    if status != 0:
        raise RuntimeError(f"pinned bandwidth could not be measured: {err[-300:]}")
    return json.loads(out)
