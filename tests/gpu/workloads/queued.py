"""Work that a program submits ahead of the device, but no further than this many steps."""

import collections

from training import Task


class QueuedTask(Task):
    """Calls ``submit`` for each step; waits first for the step that lies ``depth`` steps back."""

    def __init__(self, torch, depth):
        super().__init__(None, None, None, None)
        self._torch = torch
        self._depth = depth
        self._queued = collections.deque()

    def submit(self):
        """Submits one step and returns one of its values, on the device, as the loss."""
        raise NotImplementedError

    def step(self):
        """One step, once there is room for it."""
        if len(self._queued) == self._depth:
            event = self._queued.popleft()
            event.synchronize()
        else:
            event = self._torch.cuda.Event()
        loss = self.submit()
        event.record()
        self._queued.append(event)
        return loss
