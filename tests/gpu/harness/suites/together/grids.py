"""A grid of our own that takes long, and a program that comes while it runs: how long that one waits, and what the grid loses."""

import json
import os

from harness.bench import native, under_mps, under_relay
from harness.child import Child, ChildFailed, run_bounded
from harness.mps import Mps
from harness.table import Table
from harness.tessera import Manager

#: `--set seconds=SECONDS` says otherwise.
SECONDS = 12.0
BLOCK_US = 500
#: Of a kernel that fills the GPU once, so that it cannot be launched in parts.
WAVE_MS = 1000
ASKED = 300
TIMEOUT_S = 90
WHOLE = {"TESSERA_EXECUTOR_JAVA": "-Dtessera.executor.gridParts=false"}
ALONE = "alone"
NATIVE, MPS, RELAY, RELAY_WHOLE = "time-slicing", "MPS", "relay", "relay whole"
WAVES, REPLAYED = "relay, one wave", "relay, one wave, replayable"
WAYS = (NATIVE, MPS, RELAY, RELAY_WHOLE, WAVES, REPLAYED)


def run(setting, record):
    """The grid alone, then with a newcomer, natively, under MPS, and by relay with grids in parts, as is the default, and whole.

    Then kernels that cannot be launched in parts, beside an interactive newcomer, without and with leave to stop them and run them again.
    """
    program = setting.installation.path("programs", "grids")
    seconds = setting.option("seconds", SECONDS)
    for way in setting.chosen(WAYS):
        record.attempt(way, lambda way=way: _way(setting, record, program, way, seconds), 3 * seconds + 30)


def _way(setting, record, program, way, seconds):
    if way == NATIVE:
        _both(setting, record, program, way, native(), seconds)
    elif way == MPS:
        with Mps(setting.directory) as mps:
            _both(setting, record, program, way, under_mps(mps), seconds)
    else:
        with Manager(setting.installation, setting.directory, WHOLE if way == RELAY_WHOLE else None) as manager:
            if way in (WAVES, REPLAYED):
                manager.control.request("tenant", tenant="asks", set={"class": "interactive"}, ahead=True)
                manager.control.request("tenant", tenant=_name(way), set={"replayable": way == REPLAYED}, ahead=True)
            _both(setting, record, program, way, under_relay(manager), seconds)


def _both(setting, record, program, way, place, seconds):
    record.add("grid", way=way, beside=ALONE, **_batch(setting, program, way, place, seconds, lambda: None))
    asked = {}
    grid = _batch(setting, program, way, place, seconds, lambda: asked.update(_ask(program, way, place)))
    record.add("grid", way=way, beside="newcomer", **grid)
    record.add("asked", way=way, **asked)


def _batch(setting, program, way, place, seconds, during):
    name = _name(way)
    grids = ["waves", str(seconds), str(WAVE_MS)] if way in (WAVES, REPLAYED) else ["batch", str(seconds), str(BLOCK_US)]
    command = place.wrap([program, *grids], name)
    child = Child(name, command, place.environment, os.path.join(setting.directory, f"{name}.log"))
    try:
        ready = child.read(TIMEOUT_S)
        if ready != "ready":
            raise ChildFailed(f"the grid's program says {ready}")
        during()
        return json.loads(child.read(TIMEOUT_S))
    finally:
        child.close()


def _name(way):
    return f"batch-{way.replace(',', '').replace(' ', '-')}"


def _ask(program, way, place):
    status, out, err = run_bounded(place.wrap([program, "ask", str(ASKED)], "asks"), place.environment, TIMEOUT_S)
    if status != 0:
        raise ChildFailed(f"{way}: the newcomer ended with {status}: {err.strip()[-400:]}")
    return json.loads(out)


def tables(results):
    """A row a way."""
    rows = []
    native = next((one for one in results if one["kind"] == "grid" and one["way"] == NATIVE and one["beside"] == ALONE), {})
    for way in WAYS:
        grids = {one["beside"]: one for one in results if one["kind"] == "grid" and one["way"] == way}
        asked = next((one for one in results if one["kind"] == "asked" and one["way"] == way), {})
        if not grids and not asked:
            continue
        alone, beside = grids.get(ALONE, {}), grids.get("newcomer", {})
        rows.append((
            way, asked.get("first_ms"), asked.get("p50_ms"), asked.get("p99_ms"), asked.get("max_ms"),
            alone.get("ms"), _ratio(alone, native), _ratio(beside, alone),
            all(one["right"] for one in grids.values()) if grids else None,
        ))  # fmt: skip
    columns = ("way", "first kernel, ms", "p50", "p99", "longest", "grid alone, ms", "of natively", "kept beside", "every block once")
    note = f"a grid of blocks of {BLOCK_US} us, from PTX, or kernels of one wave that take {WAVE_MS} ms each, and how much they do in a ms; the newcomer's kernels do nothing, one each 10 ms; first kernel: with start of CUDA and loading of its module"
    return [Table("A grid that takes long, and a newcomer", columns, tuple(rows), (note,))] if rows else []


def _ratio(grid, other):
    """How much one grid did in a ms, of another one."""
    return grid["turns_per_ms"] / other["turns_per_ms"] if grid and other else None
