"""Our own CUDA programs, natively and by relay: their outputs must be equal. NAME-sm_90 has machine code alone, for that architecture."""

import os

from harness import machine
from harness.bench import native, under_relay
from harness.child import run_bounded
from harness.table import Table
from harness.tessera import Manager

TIMEOUT_S = 60


def run(setting, record):
    """Each program natively, then by relay."""
    folder = setting.installation.path("cuda")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    if not names:
        record.problem("programs", f"there are none in {folder}: the machine that built the kit had no nvcc")
        return
    here = machine.architecture()
    paths = {name: os.path.join(folder, name) for name in names if "-sm_" not in name or name.endswith(f"-{here}")}
    with Manager(setting.installation, setting.directory) as manager:
        for name in setting.chosen(list(paths)):
            record.attempt(name, lambda: _both(setting, record, manager, paths[name]), 5)


def _both(setting, record, manager, program):
    name = os.path.basename(program)
    outputs = {}
    for place in (native(), under_relay(manager)):
        status, out, err = run_bounded(place.wrap([program], f"{place.name}-{name}"), place.environment, TIMEOUT_S)
        outputs[place.name] = out
        record.add("program", program=name, placement=place.name, status=status, out=out, err=err[-2000:])
    record.add("equal", program=name, equal=outputs["native"] == outputs["space"])


def tables(results):
    """One row a program."""
    rows = []
    for one in (result for result in results if result["kind"] == "equal"):
        places = {
            result["placement"]: result
            for result in results
            if result["kind"] == "program" and result["program"] == one["program"]
        }
        right = {place: run["status"] == 0 and "WRONG" not in run["out"] for place, run in places.items()}
        rows.append((one["program"], right.get("native"), right.get("space"), one["equal"]))
    return [Table("Our programs by relay", ("program", "native right", "relay right", "outputs equal"), tuple(rows))] if rows else []
