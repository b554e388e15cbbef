"""How the harness drives a warm workload: commands on stdin, one JSON object a line on stdout.

PyTorch needs seconds to start, so a workload process is started once and measured in many windows. This module is
free of PyTorch; a self test drives it with a paced stand-in.

Commands:
  run       step until the next command arrives; answers ``ran`` with the completion time of every step
  steps N   N steps and a synchronisation; answers ``done`` with seconds, the completion time of every step, losses and a
            digest of the state after them
  serve N   an open loop: requests (a step, waited for) at times fixed ahead, N a second on average, until the next command;
            answers ``served`` with each request's time from its planned arrival, and how old those are that are not answered
  count N   N steps under the launch counter: answers ``armed``, waits for ``go``, steps, answers ``paused``, waits for
            ``finish`` and answers ``counted``; between ``armed`` and ``go``, and between ``paused`` and ``finish``, the
            process submits nothing, so another counter can be read there
  quit      end; so does the end of stdin
"""

import json
import queue
import random
import sys
import threading
import time

#: The same arrivals in every run.
ARRIVALS_SEED = 20240229
#: A sleep ends late by less than this; the rest of the time to an arrival is spun.
SPIN_NS = 300_000
#: Time after the end of a loop in which requests that had come before it are still answered.
LAST_NS = 500_000_000


class Session:
    """Serves commands for one trainer until ``quit``. One thread steps; a second one only reads stdin."""

    def __init__(self, trainer, source=None, sink=None):
        self._trainer = trainer
        self._source = source if source is not None else sys.stdin
        self._sink = sink if sink is not None else sys.stdout
        self._commands = queue.Queue()

    def say(self, event, **fields):
        """Writes one JSON line."""
        self._sink.write(json.dumps({"event": event, **fields}) + "\n")
        self._sink.flush()

    def serve(self):
        """Announces ``ready``, then answers commands until ``quit`` or the end of stdin."""
        threading.Thread(target=self._read, daemon=True).start()
        self.say("ready", **self._trainer.facts())
        while True:
            words = self._commands.get()
            if not words or words[0] == "quit":
                return
            self._answer(words)

    def _read(self):
        for line in self._source:
            self._commands.put(line.split())
        self._commands.put([])

    def _answer(self, words):
        if words == ["run"]:
            self._run()
        elif words[0] == "steps" and len(words) == 2:
            self._steps(int(words[1]))
        elif words[0] == "serve" and len(words) == 2:
            self._serve(float(words[1]))
        elif words[0] == "count" and len(words) == 2:
            self._count(int(words[1]))
        elif words == ["stop"]:
            pass  # a stop that crossed the end of a run
        else:
            raise ValueError(f"unknown command: {' '.join(words)}")

    def _run(self):
        trainer = self._trainer
        trainer.synchronize()
        clock = trainer.step_clock()
        start_ns = time.monotonic_ns()
        while self._commands.empty():
            trainer.step()
            clock.mark()
        trainer.synchronize()
        done_ns = clock.finish()
        self.say("ran", **_times(start_ns, time.monotonic_ns(), done_ns))

    def _steps(self, count):
        trainer = self._trainer
        trainer.synchronize()
        clock = trainer.step_clock()
        start_ns = time.monotonic_ns()
        losses = []
        for _ in range(count):
            losses.append(trainer.loss_of_step())
            clock.mark()
        trainer.synchronize()
        end_ns = time.monotonic_ns()
        times = _times(start_ns, end_ns, clock.finish())
        answers = {"losses": trainer.readable(losses), "state": trainer.state_digest()}
        self.say("done", steps=count, seconds=(end_ns - start_ns) / 1e9, **times, **answers)

    def _serve(self, rate):
        trainer = self._trainer
        trainer.synchronize()
        start_ns = time.monotonic_ns()
        planned = _arrivals(start_ns, rate)
        at_ns = next(planned)
        latencies_us = []

        def answer():
            trainer.step()
            trainer.synchronize()
            latencies_us.append((time.monotonic_ns() - at_ns) // 1000)
            return next(planned)

        while self._until(at_ns):
            at_ns = answer()
        end_ns = time.monotonic_ns()
        while at_ns < end_ns and time.monotonic_ns() < end_ns + LAST_NS:
            at_ns = answer()
        now_ns = time.monotonic_ns()
        ages_us = []
        while at_ns < end_ns:
            ages_us.append((now_ns - at_ns) // 1000)
            at_ns = next(planned)
        self.say("served", start_ns=start_ns, end_ns=end_ns, latencies_us=latencies_us, ages_us=ages_us)

    def _until(self, at_ns):
        """Waits for a time; whether it came before the next command."""
        while self._commands.empty():
            left_ns = at_ns - time.monotonic_ns()
            if left_ns <= 0:
                return True
            if left_ns > SPIN_NS:
                time.sleep((left_ns - SPIN_NS) / 1e9)
        return False

    def _count(self, count):
        trainer = self._trainer
        trainer.synchronize()
        with trainer.launch_counter() as counter:
            self.say("armed")
            self._expect("go")
            for _ in range(count):
                trainer.step()
            trainer.synchronize()
            self.say("paused")
            self._expect("finish")
        self.say("counted", steps=count, **counter.result())

    def _expect(self, word):
        words = self._commands.get(timeout=120)
        if words != [word]:
            raise ValueError(f"expected '{word}', got '{' '.join(words)}'")


def _arrivals(start_ns, rate):
    """Times of a Poisson process, without end."""
    gaps = random.Random(ARRIVALS_SEED)
    at_s = 0.0
    while True:
        at_s += gaps.expovariate(rate)
        yield start_ns + int(at_s * 1e9)


def _times(start_ns, end_ns, done_ns):
    """When steps were done, as differences: small numbers, and a step's own time for readers."""
    deltas_us = [round((later - earlier) / 1000) for earlier, later in zip([start_ns] + done_ns, done_ns)]
    return {"start_ns": start_ns, "end_ns": end_ns, "deltas_us": deltas_us}
