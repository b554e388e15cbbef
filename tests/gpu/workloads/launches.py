"""Counts launches with CUPTI, through the profiler that PyTorch ships.

CUPTI reports a call of the runtime and the driver call inside it as two records. A launch must be counted once, so a
driver record that lies within a runtime launch record of the same thread is dropped. The number of distinct
correlation ids among the kernel records on the GPU is reported beside it: every launch outside a graph starts exactly
one kernel, so the two agree unless the counting is wrong.
"""

import json
import os
import tempfile

#: Calls that submit one kernel, as CUPTI names them (suffixes such as _v7000 or _ptsz are cut off first).
KERNEL_LAUNCHES = frozenset(
    [
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cudaLaunchCooperativeKernel",
        "cudaLaunchCooperativeKernelMultiDevice",
        "cudaLaunch",
        "cuLaunch",
        "cuLaunchGrid",
        "cuLaunchGridAsync",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuLaunchCooperativeKernel",
        "cuLaunchCooperativeKernelMultiDevice",
    ]
)
GRAPH_LAUNCHES = frozenset(["cudaGraphLaunch", "cuGraphLaunch"])
API_CATEGORIES = ("cuda_runtime", "cuda_driver")


def plain_name(name):
    """The entry without its version and stream suffix: ``cudaGraphLaunch_v10000`` is ``cudaGraphLaunch``."""
    head, _, tail = name.rpartition("_")
    if head and (tail in ("ptsz", "ptds") or (tail[:1] == "v" and tail[1:].isdigit())):
        return plain_name(head)
    return name


def _outermost(calls):
    """Drops each driver call that lies within a runtime call of the same thread."""
    spans = {}
    for call in calls:
        if call["cat"] == "cuda_runtime":
            spans.setdefault(call["tid"], []).append((call["ts"], call["ts"] + call.get("dur", 0)))
    for list_of_thread in spans.values():
        list_of_thread.sort()
    kept = []
    for call in calls:
        if call["cat"] == "cuda_driver" and _covered(spans.get(call["tid"], ()), call):
            continue
        kept.append(call)
    return kept


def _covered(spans, call):
    low, high = 0, len(spans)
    while low < high:
        middle = (low + high) // 2
        if spans[middle][0] <= call["ts"]:
            low = middle + 1
        else:
            high = middle
    return low > 0 and call["ts"] + call.get("dur", 0) <= spans[low - 1][1]


def count_launches(events):
    """Counts of one trace (Chrome's format, as the profiler exports it).

    Returns ``kernel_launches`` and ``graph_launches``, ``by_name``, and ``kernels_by_correlation``: distinct
    correlation ids of kernels that no graph launch started.
    """
    kernel_calls, graph_calls = [], []
    for event in events:
        if event.get("cat") not in API_CATEGORIES or event.get("ph") != "X":
            continue
        name = plain_name(event["name"])
        if name in KERNEL_LAUNCHES:
            kernel_calls.append({**event, "name": name})
        elif name in GRAPH_LAUNCHES:
            graph_calls.append({**event, "name": name})
    kernel_calls, graph_calls = _outermost(kernel_calls), _outermost(graph_calls)
    by_name = {}
    for call in kernel_calls + graph_calls:
        by_name[call["name"]] = by_name.get(call["name"], 0) + 1
    of_graphs = {call.get("args", {}).get("correlation") for call in graph_calls}
    kernels = {
        event["args"].get("correlation")
        for event in events
        if event.get("cat") == "kernel" and event.get("ph") == "X" and "args" in event
    }
    return {
        "kernel_launches": len(kernel_calls),
        "graph_launches": len(graph_calls),
        "by_name": by_name,
        "kernels_by_correlation": len(kernels - of_graphs),
    }


class LaunchCounter:
    """Counts the launches made while it is entered. Not reusable; the device is idle at both borders."""

    def __init__(self, torch):
        self._profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA])
        self._events = None

    def __enter__(self):
        self._profile.__enter__()
        return self

    def __exit__(self, *failure):
        self._profile.__exit__(*failure)
        if failure[0] is not None:
            return
        handle, path = tempfile.mkstemp(suffix=".json")
        os.close(handle)
        try:
            self._profile.export_chrome_trace(path)
            with open(path, encoding="utf-8", errors="replace") as trace:
                self._events = json.load(trace)["traceEvents"]
        finally:
            os.unlink(path)

    def result(self):
        """The counts of :func:`count_launches`."""
        return count_launches(self._events)
