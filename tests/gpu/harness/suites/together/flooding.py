"""What the round trips of paced clients of one executor cost while another client floods its ring."""

import json
import os

from harness.bench import under_relay
from harness.child import ChildFailed, run_bounded
from harness.figures import verdict
from harness.table import Table
from harness.tessera import Manager

CLIENTS = 8
SECONDS = 3
#: Most times a client's round trip may take while another floods, from the issue that asked for it.
BOUND = 2.0


def run(setting, record):
    """One run of the program, all its clients under one manager."""
    program = setting.installation.path("programs", "fairness")
    with Manager(setting.installation, setting.directory) as manager:
        record.attempt("flooding", lambda: _measure(setting, record, under_relay(manager), program), 4 * SECONDS + 10)


def _measure(setting, record, place, program):
    command = place.wrap([program, str(CLIENTS), str(SECONDS)], "flooding")
    status, out, err = run_bounded(command, place.environment, 60 + 4 * SECONDS)
    if err.strip():
        with open(os.path.join(setting.directory, "flooding.log"), "a", encoding="utf-8") as log:
            log.write(err)
    if status != 0:
        raise ChildFailed(f"ended with {status}: {err.strip()[-400:]}")
    record.add("flooding", **json.loads(out))


def tables(results):
    """Round trips without and with the flood."""
    rows = []
    for one in (result for result in results if result["kind"] == "flooding"):
        for what, calm, flooded in (
            ("median client's median", "calmNs", "floodedNs"),
            ("worst client's median", "calmWorstNs", "floodedWorstNs"),
            ("worst client's 99th percentile", "calmP99Ns", "floodedP99Ns"),
        ):
            found = one[flooded] / one[calm]
            asked = f"≤ {BOUND}: {verdict(found, BOUND, at_least=False)}"
            rows.append((what, one[calm], one[flooded], found, asked if "median" in what else "–"))
    columns = ("round trip", "calm, ns", "flooded, ns", "ratio", "asked")
    note = f"{CLIENTS} clients, each its own process, an event made and destroyed every 0.2 ms; one more launches without a pause"
    return [Table("A client that floods its ring", columns, tuple(rows), (note,))] if rows else []
