"""The raw record of one suite: results as they come, problems by step, written to disk after every step."""

import json
import os
import sys
import time
import traceback


class Record:
    """Collects results and problems. A step that fails is recorded and does not stop the next one.

    :param suite: its name
    :param machine: facts of the machine
    :param directory: where ``SUITE.json`` goes
    :param limit_s: time for the whole suite
    """

    def __init__(self, suite, machine, directory, limit_s):
        self.suite = suite
        self.machine = machine
        self.results = []
        self.problems = []
        self.path = os.path.join(directory, f"{suite}.json")
        self._started = time.monotonic()
        self._limit_s = limit_s

    def remaining_s(self):
        """Seconds left of the limit."""
        return self._limit_s - (time.monotonic() - self._started)

    def add(self, kind, **fields):
        """Keeps one result."""
        self.results.append({"kind": kind, **fields})

    def problem(self, step, error):
        """Keeps one problem and says so."""
        self.problems.append({"step": step, "error": error})
        print(f"[{self.suite}] {step}: {error}", file=sys.stderr, flush=True)

    def attempt(self, name, work, needs_s=0.0):
        """Runs a step on its own: an exception in it becomes a problem; the record is saved at its end.

        A step that needs more time than is left is not begun and recorded as such.
        """
        if self.remaining_s() < needs_s:
            self.problem(name, f"skipped: needs {needs_s:.0f} s, {self.remaining_s():.0f} s are left")
            self.save()
            return
        begun = time.monotonic()
        try:
            work()
        except Exception as failed:  # whatever a step throws must not cost the steps after it
            where = traceback.extract_tb(failed.__traceback__)[-1]
            place = f"{os.path.basename(where.filename)}:{where.lineno}"
            self.problem(name, f"{type(failed).__name__}: {failed} ({place})")
        finally:
            print(f"[{self.suite}] {name}: {time.monotonic() - begun:.1f} s", file=sys.stderr, flush=True)
            self.save()

    def as_object(self):
        """What is written and what the tables are made from."""
        return {
            "suite": self.suite,
            "machine": self.machine,
            "seconds": round(time.monotonic() - self._started, 1),
            "results": self.results,
            "problems": self.problems,
        }

    def save(self):
        """Writes the record in place of its predecessor."""
        temporary = self.path + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            json.dump(self.as_object(), file)
        os.replace(temporary, self.path)
