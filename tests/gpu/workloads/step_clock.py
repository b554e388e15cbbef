"""When each training step was finished, on the host's CLOCK_MONOTONIC, read from the GPU's own time stamps.

Counting steps where Python submits them would credit a step up to a launch queue too early, which matters at the
borders of turns. So every step ends with a timing event; its distance to a base event gives the time on the GPU, and
the base is tied to the host's clock once per run.
"""

import collections
import time

#: Events in flight before the oldest is read: more than the driver lets run ahead, so reading never waits in practice.
PENDING_EVENTS = 1024
#: Attempts to tie the base event to the host's clock; the one with the narrowest bracket counts.
BASE_ATTEMPTS = 5


class EventStepClock:
    """Completion times of steps. One thread; the events belong to this object and are reused between steps."""

    def __init__(self, torch):
        self._event = lambda: torch.cuda.Event(enable_timing=True)
        self._pending = collections.deque()
        self._free = []
        self._done_ns = []
        self._base, self._base_ns = self._tie()

    def _tie(self):
        best = None
        for _ in range(BASE_ATTEMPTS):
            event = self._event()
            before_ns = time.monotonic_ns()
            event.record()
            event.synchronize()
            after_ns = time.monotonic_ns()
            if best is None or after_ns - before_ns < best[0]:
                best = (after_ns - before_ns, event, (before_ns + after_ns) // 2)
        return best[1], best[2]

    def mark(self):
        """Called after a step was submitted."""
        event = self._free.pop() if self._free else self._event()
        event.record()
        self._pending.append(event)
        if len(self._pending) > PENDING_EVENTS:
            self._read_oldest()

    def _read_oldest(self):
        event = self._pending.popleft()
        event.synchronize()
        self._done_ns.append(self._base_ns + int(self._base.elapsed_time(event) * 1e6))
        self._free.append(event)

    def finish(self):
        """Completion times of all marked steps, in nanoseconds of CLOCK_MONOTONIC, in order."""
        while self._pending:
            self._read_oldest()
        return self._done_ns


class HostStepClock:
    """The same for a step that is over when the call returns; used where no GPU is involved."""

    def __init__(self):
        self._done_ns = []

    def mark(self):
        """Called after a step."""
        self._done_ns.append(time.monotonic_ns())

    def finish(self):
        """Completion times of all marked steps."""
        return self._done_ns
