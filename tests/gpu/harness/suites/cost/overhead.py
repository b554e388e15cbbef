"""What Tessera costs where nothing is shared: starting a program, an idle manager, the gate."""

import json
import os
import statistics
import time

from harness.bench import Bench, under_tessera
from harness.child import ChildFailed, run_bounded
from harness.figures import number, quantile, verdict
from harness.table import Table
from harness.tessera import Manager, native_environment

STARTS = 100
IDLE_S = 20.0
IDLE_WITH_CLIENT_S = 5.0
GATE_TIMEOUT_S = 60.0
#: From the issue.
RUN_BOUND_MS = 10.0
IDLE_BOUND_SHARE = 0.005
IDLE_BOUND_BYTES = 150_000_000


def run(setting, record):
    """Starts, idle manager and gate, each a step of its own."""
    record.attempt("gate without a manager", lambda: _gate(setting, record, native_environment(), "no manager"))
    with Manager(setting.installation, setting.directory) as manager:
        record.attempt("starts", lambda: _starts(setting, record, manager))
        record.attempt("idle manager", lambda: _idle(record, manager, "no client", IDLE_S), IDLE_S)
        record.attempt("idle manager with a client", lambda: _idle_with_client(setting, record, manager), 20)
        record.attempt("gate with a manager", lambda: _gate(setting, record, manager.environment, "manager"))


def _spawn_ms(command, environment):
    begin = time.perf_counter_ns()
    pid = os.posix_spawnp(command[0], command, environment)
    _, status = os.waitpid(pid, 0)
    elapsed_ms = (time.perf_counter_ns() - begin) / 1e6
    if status != 0:
        raise ChildFailed(f"{' '.join(command)} ended with status {os.waitstatus_to_exitcode(status)}")
    return elapsed_ms


def _starts(setting, record, manager):
    preloaded = {**native_environment(), "LD_PRELOAD": setting.installation.library}
    # The loader only warns of a library that it cannot load, and the program runs on: that would be timed as well.
    _, _, warning = run_bounded(["true"], preloaded, 10)
    if warning:
        raise ChildFailed(f"preloading {setting.installation.library}: {warning.strip()[-300:]}")
    ways = {
        "true": (["true"], native_environment()),
        "tessera run true": ([setting.installation.command, "run", "--", "true"], manager.environment),
        "true with the library preloaded": (["true"], preloaded),
    }
    times = {way: [] for way in ways}
    for _ in range(STARTS):
        for way, (command, environment) in ways.items():
            times[way].append(_spawn_ms(command, environment))
    record.add("starts", times_ms=times)


def _cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        fields = file.read().rpartition(")")[2].split()
    # Fields 14 and 15 of proc(5), user and system time; the text after the command starts with field 3.
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_bytes(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    raise ChildFailed(f"no VmRSS of process {pid}")


def _idle(record, manager, case, seconds):
    before, begin = _cpu_seconds(manager.pid), time.monotonic()
    time.sleep(seconds)
    share = (_cpu_seconds(manager.pid) - before) / (time.monotonic() - begin)
    record.add("idle", case=case, seconds=seconds, share=share, resident_bytes=_resident_bytes(manager.pid))


def _idle_with_client(setting, record, manager):
    with Bench(setting.workloads, setting.directory) as bench:
        bench.start(under_tessera(manager), "mlp", name="idle-client").ready()
        _idle(record, manager, "one idle client", IDLE_WITH_CLIENT_S)


def _gate(setting, record, environment, case):
    program = setting.installation.path("bench", "gate", "run")
    status, out, err = run_bounded([program, "--json"], environment, GATE_TIMEOUT_S)
    if status != 0:
        raise ChildFailed(f"{program} ended with {status}: {err.strip()[-400:]}")
    record.add("gate", case=case, **json.loads(out.strip().splitlines()[-1]))


def tables(results):
    """Three small tables."""
    found = []
    starts = next((one for one in results if one["kind"] == "starts"), None)
    if starts:
        found.append(_starts_table(starts["times_ms"]))
    rows = []
    for one in results:
        if one["kind"] == "idle":
            met = one["share"] < IDLE_BOUND_SHARE and one["resident_bytes"] < IDLE_BOUND_BYTES
            rows.append(
                (
                    one["case"],
                    f"{one['share']:.2%}",
                    f"{one['resident_bytes'] / 1e6:.0f} MB",
                    "met" if met else "missed",
                )
            )
    if rows:
        asked = "< 0.5 % of a core, < 150 MB"
        found.append(Table("Idle manager", ("case", "CPU, of one core", "resident", asked), tuple(rows)))
    gates = [one for one in results if one["kind"] == "gate"]
    if gates:
        rows = tuple(
            (one["case"], one["direct_ns"], one["through_ns"], one["difference_ns"], one["ratio"]) for one in gates
        )
        columns = ("case", "driver called directly, ns", "through Tessera, ns", "difference, ns", "ratio")
        found.append(Table("The gate of cuLaunchKernel, on a driver that returns at once", columns, rows))
    return found


def _starts_table(times):
    base = statistics.median(times["true"])
    rows = []
    for way, values in times.items():
        more = statistics.median(values) - base
        asked = f"≤ {RUN_BOUND_MS:g} ms more: {verdict(more, RUN_BOUND_MS, at_least=False)}" if "run" in way else None
        rows.append((way, statistics.median(values), quantile(values, 0.9), number(more), asked))
    columns = ("command", "median, ms", "90th percentile", "more than true, ms", "asked")
    return Table("Starting a program", columns, tuple(rows), (f"{STARTS} starts each, interleaved",))
