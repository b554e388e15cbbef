"""Two processes share device memory by legacy IPC: natively and under plan swap; and what exportable memory costs."""

import json
import os

from harness.bench import native, under_tessera
from harness.child import ChildFailed, run_bounded
from harness.table import Table
from harness.tessera import Manager

LARGE_MIB = 200
#: Field of the program's answer, and what it is.
CALLS = (
    ("firstExportNs", "export of 200 MiB, the process's first, while a stream writes it"),
    ("laterExportNs", "the same of memory that was made afterwards"),
    ("smallExportNs", "the same of 5,000 bytes"),
    ("firstOpenNs", "open 200 MiB, the process's first"),
    ("openNs", "open 200 MiB, median of 50"),
    ("closeNs", "close it"),
    ("lostBytes", "free memory lost in 50 rounds, bytes"),
)
CHUNKS = (("CreateNs", "create"), ("MapNs", "map, and set access"), ("WriteNs", "write"), ("ReleaseNs", "unmap and release"))


def run(setting, record):
    """The program natively and under plans swap and auto; contents that are wrong end it."""
    program = setting.installation.path("programs", "sharing")
    chosen = setting.chosen(("native", "swap", "auto"))
    with Manager(setting.installation, setting.directory) as manager:
        for place in (native(), under_tessera(manager, "swap"), under_tessera(manager, "auto")):
            if place.name in chosen:
                record.attempt(place.name, lambda: _measure(setting, record, place, program), 10)


def _measure(setting, record, place, program):
    status, out, err = run_bounded(place.wrap([program, str(LARGE_MIB)], f"sharing-{place.name}"), place.environment, 60)
    if err.strip():
        with open(os.path.join(setting.directory, f"sharing-{place.name}.log"), "a", encoding="utf-8") as log:
            log.write(err)
    if status != 0:
        raise ChildFailed(f"ended with {status}: {err.strip()[-400:]}")
    record.add("sharing", placement=place.name, **json.loads(out))


def tables(results):
    """Calls by placement; and natively, what a chunk costs without and with the property that lets it be exported."""
    found = {one["placement"]: one for one in results if one["kind"] == "sharing"}
    if not found:
        return []
    places = [place for place in ("native", "swap", "auto") if place in found]
    rows = [(what, *(found[place].get(field) for place in places)) for field, what in CALLS]
    rows.append(("contents right", *(found[place]["checked"] for place in places)))
    note = "ns, unless said otherwise; a wrong byte ends the program, and stands under «Problems»"
    made = [Table("Memory shared by legacy IPC", ("call", *places), tuple(rows), (note,))]
    if "native" in found:
        one = found["native"]
        chunks = [(what, one.get(f"plain{field}"), one.get(f"exportable{field}")) for field, what in CHUNKS]
        columns = ("64 MiB natively, ns", "ordinary", "exportable")
        made.append(Table("What exportable memory costs", columns, tuple(chunks), ("medians of 40",)))
    return made
