"""Whether the kit works on this machine at all; the first thing to run there."""

import json
import os
import re

from harness.bench import Bench, native, under_tessera
from harness.child import ChildFailed, run_bounded
from harness.control import client_of
from harness.table import Table
from harness.tessera import Manager, native_environment, tessera_environment

WORKLOAD = "mlp"
STEPS = 5


def run(setting, record):
    """Library, probe, manager, doctor, then one small program natively, plain and managed."""
    installation = setting.installation
    record.attempt("exports", lambda: _exports(record, installation))
    record.attempt("preload into true", lambda: _preload(record, installation))
    record.attempt("probe", lambda: _probe(record, installation))
    with Manager(installation, setting.directory) as manager:
        record.attempt("doctor", lambda: _command(record, manager, setting, "doctor"))
        for place in (native(), under_tessera(manager, "plain"), under_tessera(manager, "managed")):
            record.attempt(f"{WORKLOAD} {place.name}", lambda: _program(setting, record, manager, place), 15)
        record.attempt("status", lambda: _command(record, manager, setting, "status"))


def _checked(record, name, ok, detail):
    record.add("check", name=name, ok=ok, detail=detail)
    if not ok:
        record.problem(name, detail)


def _dynamic_names(path):
    status, out, err = run_bounded(["nm", "-D", "--defined-only", path], native_environment(), 20)
    if status != 0:
        raise ChildFailed(f"nm {path}: {err.strip()[-200:]}")
    return {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()}


def _vendor_library():
    status, out, err = run_bounded(["ldconfig", "-p"], native_environment(), 10)
    found = re.search(r"libcuda\.so\.1 .*=> (\S+)", out)
    if status != 0 or not found:
        raise ChildFailed(f"the loader's cache knows no libcuda.so.1: {err.strip()[-200:]}")
    return found.group(1)


def _exports(record, installation):
    vendor = _vendor_library()
    wanted = {name for name in _dynamic_names(vendor) if re.match(r"cu[A-Z]", name)}
    missing = sorted(wanted - _dynamic_names(installation.library))
    detail = f"{len(wanted)} cu* names in {vendor}; missing: {', '.join(missing) or 'none'}"
    _checked(record, "exports", not missing, detail)


def _preload(record, installation):
    environment = {**native_environment(), "LD_PRELOAD": installation.library}
    status, out, err = run_bounded(["true"], environment, 10)
    _checked(record, "preload into true", status == 0 and not out and not err, f"status {status} {err.strip()[-200:]}")


def _probe(record, installation):
    status, out, err = run_bounded([installation.path("bin", "tessera-probe"), "--json"], tessera_environment(), 30)
    driver = json.loads(out)["driver"] if status == 0 else {}
    detail = f"status {status}, {driver} {err.strip()[-200:]}"
    _checked(record, "probe", driver.get("status") == "ok", detail)


def _command(record, manager, setting, word):
    status, out, err = manager.tessera(word, "--json")
    with open(os.path.join(setting.directory, f"{word}.json"), "w", encoding="utf-8") as file:
        file.write(out)
    right = status == 0 and json.loads(out)["ok"] is True
    _checked(record, word, right, f"status {status} {'' if right else out.strip()[-600:]} {err.strip()[-300:]}")


def _program(setting, record, manager, place):
    with Bench(setting.workloads, setting.directory) as bench:
        worker = bench.start(place, WORKLOAD, "--deterministic", name=f"smoke-{place.name}")
        facts = worker.ready()
        losses = worker.steps(STEPS)["losses"]
        status = manager.control.status()
        client = client_of(status, worker.pid)
        expected = place.name != "native"
        right = (client is not None) == expected and (not expected or client["plan"] == place.name)
        if expected:
            with open(os.path.join(setting.directory, f"status-{place.name}.json"), "w", encoding="utf-8") as file:
                json.dump(status, file, indent=1)
        record.add("program", placement=place.name, losses=losses, facts=facts, client=client)
        detail = f"last loss {losses[-1]}, started in {facts['start_seconds']:.1f} s, client: {client is not None}"
        _checked(record, f"{WORKLOAD} {place.name}", right, detail)


def tables(results):
    """Every check with its outcome, and whether the three programs agree."""
    rows = [(one["name"], one["ok"], one["detail"]) for one in results if one["kind"] == "check"]
    losses = [one["losses"] for one in results if one["kind"] == "program"]
    if len(losses) > 1:
        rows.append(("losses equal", all(one == losses[0] for one in losses), f"{len(losses)} programs"))
    return [Table("Smoke", ("check", "ok", "detail"), tuple(rows))] if rows else []
