"""What single driver calls cost a program: natively and by relay, in turn."""

import json
import os

from harness.bench import native, under_relay
from harness.child import ChildFailed, run_bounded
from harness.figures import summary
from harness.table import Table
from harness.tessera import Manager

REPEATS = 3
LARGE_MIB = 256
#: Field of the program's answer, what it is, and whether more is better.
FIGURES = (
    ("launchNs", "launch, ns of the calling thread", False),
    ("sustainedLaunchNs", "launch with a full queue, ns end to end", False),
    ("launchAndSynchroniseNs", "launch and synchronise, ns", False),
    ("idleSynchroniseNs", "synchronise an idle stream, ns", False),
    ("eventRecordNs", "record an event, ns", False),
    ("eventSynchroniseNs", "synchronise with an event, ns", False),
    # By relay a launch returns before the driver is called: the wait for its event holds what the launch cost natively.
    ("launchToEventNs", "launch, record an event and synchronise with it, ns", False),
    ("allocateNs", "cuMemAlloc of 4 MiB, ns", False),
    ("freeNs", "cuMemFree, ns", False),
    ("pinnedAllocateNs", "cuMemHostAlloc of 4 KiB, ns", False),
    ("pinnedFreeNs", "cuMemFreeHost, ns", False),
    ("smallUpNs", "4 bytes to the device, ns", False),
    ("smallDownNs", "4 bytes from the device, ns", False),
    ("pinnedUpGBs", "256 MiB up, pinned, GB/s", True),
    ("pinnedDownGBs", "256 MiB down, pinned, GB/s", True),
    ("pageableUpGBs", "256 MiB up, pageable, GB/s", True),
    ("pageableDownGBs", "256 MiB down, pageable, GB/s", True),
    ("partUpNs", "512 KiB of pageable memory to the device until it is there, ns", False),
    ("startMs", "start to first kernel, ms", False),
)


def run(setting, record):
    """The same program natively and by relay, alternating."""
    program = setting.installation.path("programs", "costs")
    with Manager(setting.installation, setting.directory) as manager:
        places = (native(), under_relay(manager))
        for turn in range(REPEATS):
            for place in places if turn % 2 == 0 else places[::-1]:
                record.attempt(f"{place.name} {turn + 1}", lambda: _measure(setting, record, place, program), 10)


def _measure(setting, record, place, program):
    command = place.wrap([program, str(LARGE_MIB)], f"costs-{place.name}")
    status, out, err = run_bounded(command, place.environment, 60)
    if err.strip():
        with open(os.path.join(setting.directory, f"costs-{place.name}.log"), "a", encoding="utf-8") as log:
            log.write(err)
    if status != 0:
        raise ChildFailed(f"ended with {status}: {err.strip()[-400:]}")
    record.add("costs", placement=place.name, **json.loads(out))


def tables(results):
    """Medians of both and their ratio."""
    rows = []
    for field, what, _ in FIGURES:
        values = {
            place: [one[field] for one in results if one["kind"] == "costs" and one["placement"] == place and field in one]
            for place in ("native", "space")
        }
        if not any(values.values()):
            continue
        medians = {place: summary(found)["median"] if found else None for place, found in values.items()}
        both = medians["native"] and medians["space"]
        rows.append((what, medians["native"], medians["space"], medians["space"] / medians["native"] if both else None))
    note = f"medians of {REPEATS} runs of the same program; a run's figure is a median over its calls, of large copies the best"
    return [Table("Calls by relay", ("call", "native", "relay", "relay/native"), tuple(rows), (note,))] if rows else []
