"""A warm workload process and the windows measured in it."""

import json
import time

from harness.child import Child
from harness.steps import StepTimes

#: From start to the end of warm-up: PyTorch takes 3 to 5 s; compiled variants take longer and say so.
READY_TIMEOUT_S = 60.0
#: An answer after the work was asked to end: a turn of the longest quantum, and the rest of the queue.
ANSWER_TIMEOUT_S = 30.0


class Worker:
    """One workload under one placement (native, MPS, Tessera). Starts at once; ``ready`` waits for its warm-up."""

    def __init__(self, child, ready_timeout_s=READY_TIMEOUT_S):
        self._child = child
        self._ready_by = time.monotonic() + ready_timeout_s
        self.name = child.name
        self.facts = None

    @classmethod
    def start(cls, name, command, environment, log_path, ready_timeout_s=READY_TIMEOUT_S):
        """Starts the process."""
        return cls(Child(name, command, environment, log_path), ready_timeout_s)

    @property
    def pid(self):
        """The workload's own process id, known once it is ready."""
        return self.facts["pid"]

    def ready(self):
        """Waits for the end of the warm-up and returns what the workload says of itself."""
        if self.facts is None:
            self.facts = self._answer("ready", self._ready_by - time.monotonic())
        return self.facts

    def _answer(self, event, timeout_s):
        end = time.monotonic() + timeout_s
        while True:
            line = self._child.read(end - time.monotonic())
            try:
                answer = json.loads(line)
            except ValueError:
                continue  # a program may print what it likes; only our own lines are JSON objects
            if isinstance(answer, dict) and answer.get("event") == event:
                return answer
            if isinstance(answer, dict) and "event" in answer:
                raise self._child.failure(f"answered '{answer['event']}', not '{event}'")

    def go(self):
        """Lets it step until :meth:`stop`."""
        self._child.write("run")

    def stop(self):
        """Asks it to stop; :meth:`collect` waits for it. Two calls, so that several workers stop together."""
        self._child.write("stop")

    def collect(self):
        """The steps since :meth:`go`."""
        return StepTimes.of_answer(self._answer("ran", ANSWER_TIMEOUT_S))

    def serve(self, rate):
        """Lets it answer requests in an open loop, at this rate a second on average, until :meth:`served`."""
        self._child.write(f"serve {rate}")

    def served(self):
        """Ends the open loop. Returns what each request took from its planned arrival, and the ages of those not answered."""
        self.stop()
        return self._answer("served", ANSWER_TIMEOUT_S)

    def steps(self, count, timeout_s=60.0):
        """Runs this many steps; returns seconds, losses and the digest of the state."""
        self._child.write(f"steps {count}")
        return self._answer("done", timeout_s)

    def counted(self, count, between, timeout_s=60.0):
        """Runs steps under CUPTI. ``between()`` is called before and after them, while the process is quiet.

        Returns CUPTI's counts and the two values.
        """
        self._child.write(f"count {count}")
        self._answer("armed", timeout_s)
        before = between()
        self._child.write("go")
        self._answer("paused", timeout_s)
        after = between()
        self._child.write("finish")
        return self._answer("counted", timeout_s), before, after

    def close(self):
        """Ends the process."""
        self._child.close()


def run_together(workers, seconds):
    """Lets workers step at the same time for this long; returns their StepTimes in order."""
    for worker in workers:
        worker.go()
    time.sleep(seconds)
    for worker in workers:
        worker.stop()
    return [worker.collect() for worker in workers]
