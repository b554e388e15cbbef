"""Two trainings of ``resnet`` on two streams of one process: what one context gives to both, without anybody between.

A step is a step of each. One thread submits both in turn; that is early enough where the device is the bottleneck.
"""

import resnet
from training import Task, main


class Pair(Task):
    """Two tasks, each on a stream of its own; what is recorded on the current stream afterwards waits for both."""

    def __init__(self, torch, tasks):
        super().__init__(None, None, None, None)
        self._torch = torch
        self._tasks = tasks
        self._streams = [torch.cuda.Stream() for _ in tasks]
        for stream in self._streams:
            stream.wait_stream(torch.cuda.current_stream())

    def step(self):
        """The sum of both losses."""
        torch = self._torch
        losses = []
        for stream, task in zip(self._streams, self._tasks):
            with torch.cuda.stream(stream):
                losses.append(task.step().detach())
        for stream in self._streams:
            torch.cuda.current_stream().wait_stream(stream)
        return losses[0] + losses[1]

    def state(self):
        return [tensor for task in self._tasks for tensor in task.state()]


def build(torch):
    """The pair on the current CUDA device."""
    return Pair(torch, [resnet.build(torch) for _ in range(2)])


if __name__ == "__main__":
    main("resnet_twice", build)
