"""Generated kernels, fenced, on this GPU: legal ones against the software GPU's results, hostile ones against their window."""

import json
import os
import shlex

from harness.bench import native
from harness.child import ChildFailed, run_bounded
from harness.table import Table

TIMEOUT_S = 400
KERNELS = 5000
#: Statuses of the program: all kernels ran; one ended the context.
STATUSES = (0, 3)


def run(setting, record):
    """All kernels in one process; a number among the cases is how many, or, as ``seed=N``, their seed."""
    record.attempt("kernels", lambda: _run(setting, record), 60)


def _run(setting, record):
    path = setting.installation.path
    setting.installation.share_classes()
    kernels = next((int(name) for name in setting.only if name.isdigit()), KERNELS)
    seed = next((name.removeprefix("seed=") for name in setting.only if name.startswith("seed=")), None)
    threads = os.cpu_count() or 2
    feed = [path("jre", "bin", "java"), "--enable-native-access=ALL-UNNAMED", "-Xmx8g", "-cp", path("app", "*") + ":" + path("fuzz", "fuzz.jar"),
            "io.tessera.fuzz.FuzzMain", "gpu", "--kernels", str(kernels), "--threads", str(threads), *(("--seed", seed) if seed else ())]  # fmt: skip
    command = f"set -o pipefail; {shlex.join(feed)} | {shlex.quote(path('programs', 'fuzz'))} {threads}"
    status, out, err = run_bounded(["bash", "-c", command], native().environment, TIMEOUT_S)
    with open(os.path.join(setting.directory, "fuzz.log"), "w", encoding="utf-8") as log:
        log.write(err)
    found = [line for line in out.splitlines() if line.startswith("{")]
    if not found:
        raise ChildFailed(f"ended with {status}: {err.strip()[-400:]}")
    result = json.loads(found[-1])
    record.add("fuzz", **{"asked": kernels, "seed": _seed(err), "status": status, **result})
    if status not in STATUSES and not result["contextLost"]:
        raise ChildFailed(f"ended with {status}: {err.strip()[-400:]}")
    if result["kernels"] + result["refused"] < kernels and not result["contextLost"]:
        raise ChildFailed(f"only {result['kernels']} of {kernels} kernels came: {err.strip()[-400:]}")


def _seed(said):
    return next((line.removeprefix("seed ") for line in said.splitlines() if line.startswith("seed ")), "")


def tables(results):
    """One row, and one for each kernel that failed."""
    found = []
    for one in (result for result in results if result["kind"] == "fuzz"):
        fields = ("asked", "kernels", "hostile", "stopped", "refused", "differences", "escapes", "contextLost")
        found.append(Table("Generated kernels, fenced", fields, (tuple(one[field] for field in fields),), (f"seed {one['seed']}",)))
        if one["failures"]:
            columns = ("seed", "mode", "hostile", "what", "code")
            found.append(Table("Kernels that failed", columns, tuple(tuple(each[name] for name in columns) for each in one["failures"])))
    return found
