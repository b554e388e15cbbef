"""Contents of memory of every path on this GPU while a manager of the test takes all of it away again and again."""

import os
import shutil
import tempfile

from harness.child import Child, ChildFailed, run_bounded
from harness.table import Table
from harness.tessera import native_environment

SECONDS = 8
THREADS = 4
#: Case: options of the manager that moves, or None for a run without Tessera, whose expectations must hold as well.
CASES = {
    "native": None,
    "pinned": ("open_us=20000",),
    "pageable": ("open_us=20000", "pinned=0"),
    "short turns": ("open_us=2000", "pinned=33554432"),
}


def run(setting, record):
    """The same program natively, and under plan swap with forced moves into each tier of host memory."""
    for seed, case in enumerate(setting.chosen(CASES), 1):
        record.attempt(case, lambda: _measure(setting, record, case, CASES[case], seed), SECONDS + 10)


def _measure(setting, record, case, options, seed):
    program = setting.installation.path("programs", "swap_paths")
    command = [program, f"ms={1000 * SECONDS}", f"threads={THREADS}", f"seed={seed}"]
    if options is None:
        checks, bursts, replays = _work(command, native_environment())
        record.add("moves", case=case, seed=seed, checks=checks, bursts=bursts, replays=replays)
        return
    # Short and under /tmp: a UNIX socket's path holds 107 bytes.
    directory = tempfile.mkdtemp(prefix="tessera-moves-", dir="/tmp")
    try:
        _measure_moved(setting, record, case, [*options, f"seed={seed}"], command, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _measure_moved(setting, record, case, options, command, directory):
    manager = Child(
        "moving_manager",
        [setting.installation.path("programs", "moving_manager"), directory, *options],
        native_environment(),
        os.path.join(setting.directory, f"moves-{case.replace(' ', '-')}.log"),
    )
    try:
        if manager.read(10) != "listening":
            raise manager.failure("did not begin to listen")
        environment = native_environment()
        environment["LD_PRELOAD"] = setting.installation.library
        environment["TESSERA_RUNTIME_DIR"] = directory
        environment["TESSERA_PLAN"] = "swap"
        checks, bursts, replays = _work(command, environment)
        word, *figures = manager.read(30).split()
        if word != "moved":
            raise manager.failure(f"said {word} {' '.join(figures)}")
        rounds, out, back, failures = (int(figure) for figure in figures)
    finally:
        manager.close()
    record.add(
        "moves", case=case, seed=int(command[-1].split("=")[1]), checks=checks, bursts=bursts, replays=replays,
        rounds=rounds, movedOut=out, movedIn=back, failures=failures,
    )  # fmt: skip


def _work(command, environment):
    status, out, err = run_bounded(command, environment, 10 * SECONDS + 60)
    words = out.split()
    if status != 0 or len(words) != 4 or words[0] != "done":
        raise ChildFailed(f"ended with {status}: {(err or out).strip()[-400:]}")
    return (int(word) for word in words[1:])


def tables(results):
    """What was checked, and how much moved meanwhile."""
    rows = [
        (
            one["case"],
            one["checks"] + one["bursts"] + one["replays"],
            one.get("rounds", "–"),
            f"{one['movedOut'] / 1e9:.1f} / {one['movedIn'] / 1e9:.1f}" if "rounds" in one else "–",
            one.get("failures", "–"),
        )
        for one in results
        if one["kind"] == "moves"
    ]
    columns = ("case", "contents right", "times moved", "out / in, GB", "moves that failed")
    note = f"{THREADS} threads for {SECONDS} s; a wrong word ends the program, and stands under «Problems»"
    return [Table("Contents under forced moves", columns, tuple(rows), (note,))] if rows else []
