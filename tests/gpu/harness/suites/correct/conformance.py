"""The software GPU's instructions on a real GPU: every conformance case natively, results compared value by value."""

import gzip
import json
import os
import shutil
import tempfile

from harness.bench import native
from harness.child import ChildFailed, run_bounded
from harness.table import Table

TIMEOUT_S = 240
#: Rows of differences that the table shows; the raw record has all that the program printed.
SHOWN = 20


def run(setting, record):
    """Unpacks the cases and runs them once."""
    record.attempt("cases", lambda: _compare(setting, record), 30)


def _compare(setting, record):
    program = setting.installation.path("programs", "conformance")
    packed = setting.installation.path("conformance.cases.gz")
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        cases = os.path.join(folder, "cases")
        with gzip.open(packed, "rb") as source, open(cases, "wb") as target:
            shutil.copyfileobj(source, target)
        status, out, err = run_bounded([program, cases], native().environment, TIMEOUT_S)
    if err.strip():
        with open(os.path.join(setting.directory, "conformance.log"), "w", encoding="utf-8") as log:
            log.write(err)
    if status != 0:
        raise ChildFailed(f"ended with {status}: {err.strip()[-400:]}")
    record.add("conformance", **json.loads(out))


def tables(results):
    """Cases by tolerance, then each case that did not pass and the first differences."""
    found = []
    for one in (result for result in results if result["kind"] == "conformance"):
        rows = [_counts(kind) for kind in one["tolerances"]] + [_counts({"name": "all", **one})]
        found.append(
            Table(
                "The software GPU's instructions on this GPU",
                ("tolerance", "cases", "passed", "failed", "refused", "values", "different", "worst error / bound"),
                tuple(rows),
                (f"{one['seconds']} s for compiling and running all",),
            )
        )
        if one["notPassed"]:
            rows = [(case["name"], case["refused"] == 1, case["different"], case["values"]) for case in one["notPassed"]]
            found.append(Table("Cases that did not pass", ("case", "refused", "different", "of"), tuple(rows)))
        if one["mismatches"]:
            rows = [
                (each["case"], each["record"], ", ".join(each["inputs"]), each["result"], each["expected"], each["got"])
                for each in one["mismatches"][:SHOWN]
            ]
            columns = ("case", "record", "inputs", "result", "expected", "got")
            found.append(Table("First differences", columns, tuple(rows)))
    return found


def _counts(of):
    fields = ("name", "cases", "passed", "failed", "refused", "values", "different")
    return (*(of[field] for field in fields), of.get("worst"))
