"""Programs of probes, each of which may end its context: one after the other natively, in a new process after each that does."""

import json

from harness.bench import native
from harness.child import run_bounded


def run(setting, record, name, kind, timeout_s):
    """Runs the chosen probes of ``programs/NAME`` and records a line of KIND for each that said something.

    Such a program lists its probes with ``--list``, prints a line of JSON for each that it is given, and stops behind the first
    whose context is gone.
    """
    program = setting.installation.path("programs", name)
    status, out, err = run_bounded([program, "--list"], native().environment, timeout_s)
    if status != 0:
        record.problem("probes", f"ended with {status}: {err.strip()[-400:]}")
        return
    left = setting.chosen(out.split())
    while left:
        status, out, err = run_bounded([program, *left], native().environment, timeout_s)
        done = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
        for one in done:
            record.add(kind, **one)
        if not done:
            record.problem(left[0], f"ended with {status}: {err.strip()[-400:]}")
        left = left[max(1, len(done)) :]
