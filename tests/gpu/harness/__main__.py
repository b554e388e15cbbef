"""Runs suites: ``python3 -m harness SUITE... [--json] [--out DIR] [--only CASE,...] [--set NAME=VALUE] [--limit SECONDS]``."""

import argparse
import json
import os
import signal
import sys
import tarfile
import tempfile

from harness import machine
from harness.record import Record
from harness.suites import NAMES, Setting, load
from harness.table import render
from harness.tessera import Installation

#: All suites of one call together: below the ten minutes that a call on a lent machine usually has.
LIMIT_S = 480.0


def _beside(*parts):
    """A path beside the folder of this package."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), *parts)


def _arguments(words):
    parser = argparse.ArgumentParser(prog="tests/gpu/run", description="Measures Tessera on a machine with a GPU.")
    parser.add_argument("suites", nargs="+", choices=NAMES, metavar="SUITE", help=", ".join(NAMES))
    parser.add_argument("--json", action="store_true", help="print the raw records instead of the tables")
    parser.add_argument("--out", default="gpu-results", help="folder for raw records and logs (default gpu-results)")
    parser.add_argument("--only", default="", help="cases of the suite, separated by commas")
    parser.add_argument(
        "--set", dest="settings", action="append", default=[], metavar="NAME=VALUE", help="an option of a suite; may be repeated"
    )
    parser.add_argument("--workloads", default=_beside("workloads"), help="folder of the workload programs")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help=f"seconds for all suites (default {LIMIT_S:.0f})")
    parsed = parser.parse_args(words)
    for word in parsed.settings:
        if "=" not in word:
            parser.error(f"--set {word}: NAME=VALUE is wanted")
    return parsed


def _home():
    named = os.environ.get("TESSERA_HOME")
    if named:
        return named
    # Inside a kit the harness lies beside the kit's tools; in the tree the kit is below us.
    return _beside() if os.path.exists(_beside("tools", "tessera")) else _beside("target", "kit")


def _ended(number, _frame):
    # Leaves through the context managers, which end managers, daemons and workloads.
    raise SystemExit(128 + number)


def _run(suite, options, installation, facts, limit_s, logs):
    only = tuple(name.strip() for name in options.only.split(",") if name.strip())
    directory = os.path.join(logs, suite)
    os.mkdir(directory)
    said = dict(word.split("=", 1) for word in options.settings)
    setting = Setting(installation, options.workloads, directory, only, said)
    record = Record(suite, facts, options.out, limit_s)
    try:
        record.attempt(suite, lambda: load(suite).run(setting, record))
    finally:
        record.save()
        result = record.as_object()
        print(json.dumps(result) if options.json else render(result), flush=True)
    return record


def main(words):
    """Runs the named suites one after the other; exit status 1 where one left a problem."""
    options = _arguments(words)
    signal.signal(signal.SIGTERM, _ended)
    signal.signal(signal.SIGHUP, _ended)
    os.makedirs(options.out, exist_ok=True)
    installation = Installation(_home())
    unshared = installation.share_classes()
    if unshared:
        print(f"the manager will start slowly: {unshared}", file=sys.stderr)
    facts = machine.facts(installation)
    limit_s, problems = options.limit, 0
    with tempfile.TemporaryDirectory(prefix="tessera-gpu-logs-") as logs:
        try:
            for suite in options.suites:
                record = _run(suite, options, installation, facts, limit_s, logs)
                limit_s = record.remaining_s()
                problems += len(record.problems)
        finally:
            # One file, because results often travel back from the machine by the handful.
            archive = os.path.join(options.out, f"logs-{options.suites[0]}.tar.gz")
            with tarfile.open(archive, "w:gz") as packed:
                packed.add(logs, "logs")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
