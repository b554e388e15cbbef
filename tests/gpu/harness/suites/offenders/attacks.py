"""The attack suite (tests/attacks) on this GPU: every attack against a victim, and some of them without any fence."""

import glob
import json
import os
import shutil
import tempfile

from harness.bench import native
from harness.child import ChildFailed, run_bounded
from harness.table import Table

TIMEOUT_S = 270
CONTROL_TIMEOUT_S = 60
#: No attack begins so shortly before the time is over: the longest takes 60 s, and 10 to be gone.
LAST_S = 80
#: Unfenced these read and write the victim, and fault nothing: the control run must see it.
CONTROL = ("load/index", "load/generic", "load/vector4", "store/forged", "store/vector4", "atomic/exchange", "atomic/reduce",
           "async/copy", "async/bulk", "async/bulk_store", "pointer/from_kernel", "code/indirect")  # fmt: skip
PROTECTED = ("--manager", "--kernel-timeout", "--manager", "3s", "--manager", "--unfenced", "--manager", "refuse")


#: Ways to fence; those named among the cases are run, else the default.
MODES = ("mask", "modulo", "check")


def run(setting, record):
    """Runs all attacks in each mode that is asked for, then the control run."""
    names = [name for name in setting.only if name not in MODES]
    chosen = ("--only", ",".join(names)) if names else ()
    for mode in [name for name in MODES if name in setting.only] or MODES[:1]:
        options = (*PROTECTED, "--manager", "--fence", "--manager", mode, *chosen)
        record.attempt(f"attacks, {mode}", lambda: _attack(setting, record, f"fenced by {mode}", TIMEOUT_S, *options), 120)
    only = ("--only", ",".join(CONTROL))
    record.attempt(
        "control", lambda: _attack(setting, record, "unfenced", CONTROL_TIMEOUT_S, "--control", *only), 30
    )


def _attack(setting, record, kind, timeout_s, *options):
    path = setting.installation.path
    setting.installation.share_classes()
    log = os.path.join(setting.directory, f"attacks-{kind}.json")
    folder = tempfile.mkdtemp(prefix="tsa-")  # of sockets, whose paths are short
    command = [path("jre", "bin", "java"), f"-Djava.io.tmpdir={folder}", "--enable-native-access=ALL-UNNAMED", "-cp",
               path("app", "*") + ":" + path("attacks", "attacks.jar"), "io.tessera.attacks.AttacksMain", "--home",
               setting.installation.home, "--device", "nvidia", "--json", "--out", log, "--limit",
               str(max(timeout_s - LAST_S, timeout_s // 2)), "--seconds", "20", "--times",
               setting.option("times", "1"), *options]  # fmt: skip
    try:
        status, out, err = run_bounded(command, native().environment, timeout_s)
        _keep_logs(folder, os.path.join(setting.directory, f"attacks-{kind}"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with open(os.path.join(setting.directory, f"attacks-{kind}.log"), "w", encoding="utf-8") as file:
        file.write(err)
    if status in (0, 1):
        found = json.loads(out.strip().splitlines()[-1])
    elif os.path.exists(log):
        with open(log, encoding="utf-8") as file:
            found = json.load(file)  # what was known when it was cut off
    else:
        raise ChildFailed(f"ended with {status}: {err.strip()[-400:]}")
    record.add("attacks", run=kind, good=status == 0, **found)
    if status not in (0, 1):
        raise ChildFailed(f"ended with {status}, {len(found['noTimeFor'])} attacks were not begun: {err.strip()[-400:]}")


def _keep_logs(folder, prefix):
    """What executors logged: why one ended, or which clients it held up."""
    for number, log in enumerate(sorted(glob.glob(os.path.join(folder, "*", "*", "*", "executors", "executor-*.log")))):
        shutil.copyfile(log, f"{prefix}-executor-{number}.log")


def tables(results):
    """All attacks of a run with what came of each, and the sums that count."""
    found = []
    for one in (result for result in results if result["kind"] == "attacks"):
        rows = []
        for attack in one["attacks"]:
            trouble = [f"{word}: {attack[key]}" for key, word in _TROUBLE if attack[key]]
            rows.append((attack["name"], attack["what"], attack["must"], attack["outcome"], "; ".join(trouble) or "held"))
        found.append(
            Table(
                f"Attacks on a neighbour, {one['run']}",
                ("attack", "what it does", "must be", "was", "so"),
                tuple(rows),
                (
                    f"attacks: {len(rows)}, no time for: {len(one['noTimeFor'])}, not tried: {one['notTried']}, not as stated: {one['notAsStated']}, "
                    f"crashes: {one['crashes']}",
                    f"escapes: {one['escapes']}",
                    f"victims disturbed: {one['victimsDisturbed']}",
                ),
            )
        )
    return found


_TROUBLE = (
    ("escaped", "ESCAPE"),
    ("crashed", "CRASH"),
    ("disturbed", "DISTURBED"),
    ("unlike", "NOT AS STATED"),
    ("untried", "not tried"),
)
