"""Runs the harness's tests in a few processes at a time: most of them wait for paced programs. Prints what failed, then unittest's last lines."""

import concurrent.futures
import re
import subprocess
import sys
import time
import unittest

#: More would disturb each other's pace on two cores.
PROCESSES = 6
TIMEOUT_S = 200
#: Tests of these modules are long, and run in processes of their own.
APART = tuple(f"harness.tests.{what}" for what in ("suites.test_suites", "test_caffe_kit", "suites.test_jvm_suite", "suites.test_device_suites", "suites.test_traces_suite",
    "suites.test_oversub_suite", "suites.test_ops_suite", "suites.test_fullsize_suite", "suites.test_beside_suite"))


def names(suite):
    """The names of all tests in a suite."""
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from names(one)
        else:
            yield one.id()


def run(tests):
    """Runs some tests in a process: its exit status and what it printed."""
    command = [sys.executable, "-W", "error", "-m", "unittest", *tests]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S, check=False)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        return 1, f"{late.stdout or ''}\nFAIL: {' '.join(tests)}: not ended within {TIMEOUT_S} s\n"


def count(word, text):
    """The number behind a word in unittest's last line."""
    return sum(int(found) for found in re.findall(rf"[( ]{word}=(\d+)", text.splitlines()[-1] if text else ""))


def main():
    """Exit status 0 if all passed."""
    begun = time.monotonic()
    every = list(names(unittest.defaultTestLoader.discover("harness/tests", top_level_dir=".")))
    groups = {}
    for name in every:
        apart = name.startswith(APART)
        groups.setdefault(name if apart else name.rsplit(".", 2)[0], []).append(name)
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        results = list(pool.map(run, groups.values()))
    totals = {word: sum(count(word, text) for _, text in results) for word in ("failures", "errors", "skipped")}
    failed = [text for status, text in results if status != 0]
    for text in failed:
        print(text)
    if failed and not totals["failures"] + totals["errors"]:
        totals["errors"] = len(failed)
    print(f"Ran {len(every)} tests in {time.monotonic() - begun:.3f}s\n")
    told = ", ".join(f"{word}={number}" for word, number in totals.items() if number)
    print(("FAILED" if failed else "OK") + (f" ({told})" if told else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
