"""Child processes with bounded waits, each in a session of its own, ended by their own process group."""

import os
import queue
import signal
import subprocess
import tempfile
import threading
import time


class ChildFailed(Exception):
    """A child ended, or did not answer, where it should have gone on. Names the command and the end of its log."""


class Child:
    """A process whose stdout is read line by line and whose stderr goes to a file.

    Owned by one thread; ``close`` ends the process and its group and is safe to call twice.
    """

    def __init__(self, name, command, environment, log_path, directory=None):
        self.name = name
        self.command = command
        self._log_path = log_path
        self._lines = queue.Queue()
        with open(log_path, "ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                cwd=directory,
                start_new_session=True,
                text=True,
                encoding="utf-8",
                errors="replace",
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self):
        """Process id of what was started; a wrapper that executes its program keeps it."""
        return self._process.pid

    def _read(self):
        with self._process.stdout as output:
            for line in output:
                self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def write(self, line):
        """Sends one line to the child's stdin."""
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except OSError as broken:
            raise self.failure(f"does not read its input ({broken})") from broken

    def finish(self):
        """Ends the child's input; it goes on with what it got."""
        self._process.stdin.close()

    def read(self, timeout_s):
        """The next line of stdout; raises ChildFailed at the end of the output or after the timeout."""
        try:
            line = self._lines.get(timeout=max(0.0, timeout_s))
        except queue.Empty:
            raise self.failure(f"said nothing for {timeout_s:.0f} s") from None
        if line is None:
            raise self.failure(f"ended with status {self.wait(5)}")
        return line

    def wait(self, timeout_s):
        """The exit status, or None while it runs on after the timeout."""
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def failure(self, what):
        """An exception that names this child, what happened and the last lines of its log."""
        return ChildFailed(f"{self.name} {what}; log: {self.log_tail()}")

    def log_tail(self, limit=600):
        """The end of the child's stderr."""
        try:
            with open(self._log_path, encoding="utf-8", errors="replace") as log:
                return " / ".join(log.read()[-limit:].split("\n")).strip() or "(empty)"
        except OSError as missing:
            return f"(no log: {missing})"

    def close(self, grace_s=5.0):
        """Asks for the end by closing stdin, then SIGTERM, then SIGKILL, to the group that this object started."""
        try:
            self._process.stdin.close()
        except OSError:
            pass  # the child closed it first
        if self.wait(grace_s) is None:
            self._signal(signal.SIGTERM)
            if self.wait(3) is None:
                self._signal(signal.SIGKILL)
                self.wait(5)
        # Ends with the last holder of the pipe, which may be a grandchild that left the group: bounded.
        self._reader.join(1)

    def _signal(self, number):
        try:
            os.killpg(self._process.pid, number)
        except ProcessLookupError:
            pass  # it ended by itself in between


def run_bounded(command, environment, timeout_s, stdin=""):
    """Runs a command to its end. Returns (status, stdout, stderr); status 124 where the time ran out.

    Output goes through files: a daemon that the command leaves behind may keep them open, and a pipe would then
    never end.
    """
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode())
        given.seek(0)
        process = subprocess.Popen(
            command, stdin=given, stdout=out, stderr=err, env=environment, start_new_session=True
        )
        # Waits without polling: Popen.wait with a timeout sleeps up to 50 ms past the end, and callers time programs.
        late = threading.Event()
        guard = threading.Timer(timeout_s, _end_late, (process, late))
        guard.start()
        status = process.wait()
        guard.cancel()
        if late.is_set():
            return 124, _content(out), f"{_content(err)}\nended after {timeout_s} s"
        return status, _content(out), _content(err)


def _end_late(process, late):
    late.set()
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        late.clear()  # it ended by itself in between


def _content(file):
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def wait_until(condition, timeout_s, interval_s=0.02):
    """Polls until the condition's value is true and returns it; None after the timeout."""
    end = time.monotonic() + timeout_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= end:
            return None
        time.sleep(interval_s)
