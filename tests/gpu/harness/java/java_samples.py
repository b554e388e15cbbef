"""The JVM samples on this GPU, natively, in turns and by relay: each checks itself and prints the same lines on every device.

JavaCPP's is linked with version 12 of the CUDA runtime, which is Tessera's here: natively there may be none.

And the leaking one: how long `tessera jvm` takes to name a site, asked from the first moment on, and which site it accuses.
"""

import json
import time

from harness.bench import native
from harness.child import ChildFailed, run_bounded
from harness.table import Table

SAMPLES = ("VectorAdd", "Gemm", "Reduction", "Streams", "AsyncCopies", "JavaCppSaxpy")
#: For each way the agent's options; None is without it.
WAYS = {"native": None, "in turns": "share=time", "relay": "share=space"}
WITH_OUR_RUNTIME = {"JavaCppSaxpy": ",runtime=yes"}
LEAKING, HEALTHY = "LeakingService", "ScoringService"
TIMEOUT_S = 60.0
#: Longest that naming the leak may take, from the issue that asked for it; and how long nobody else may be accused.
NAMED_S = 30.0
WATCH_S = 15.0
LOOK_EVERY_S = 1.0


def run(kit, record, manager, start, ask):
    """``start(name, program, arguments, agent)`` starts a sample that stays and knows the manager; ``ask(child, amount)``."""
    for program in SAMPLES:
        for way, agent in WAYS.items():
            ours = WITH_OUR_RUNTIME.get(program)
            if ours and not agent:
                continue
            agent = agent + ours if ours else agent
            environment = manager.environment if agent else native().environment
            status, out, err = run_bounded(kit.command(program, agent=agent), environment, TIMEOUT_S)
            record.add("sample", program=program, way=way, status=status, lines=out.splitlines(), errors=err[-400:])
    _leaks(record, manager, start, ask)


def _leaks(record, manager, start, ask):
    healthy = start("healthy", HEALTHY, ("bench", "4"), "share=time")
    leaking = start("leaking", LEAKING, ("serve",), "share=time")
    begun = time.monotonic()
    named_s, accused = None, set()
    while time.monotonic() - begun < (WATCH_S if named_s is not None else 2 * NAMED_S):
        ask(healthy, 500)
        for child in (healthy, leaking):
            for site in _accused(manager, child):
                accused.add((child.name, site))
                if child is leaking and named_s is None:
                    named_s = time.monotonic() - begun
        time.sleep(LOOK_EVERY_S)
    record.add("leaks", named_s=named_s, accused=sorted(accused))


def _accused(manager, child):
    """Sites of the program that are called leaks: sites whose owner was collected, or that only grow."""
    status, out, err = manager.tessera("jvm", str(child.pid), "--no-load", "--leaks=1s", "--gc", "--json", timeout_s=TIMEOUT_S)
    if status != 0:
        raise ChildFailed(f"tessera jvm {child.pid} ended with {status}: {(err or out).strip()[-400:]}")
    return [site["site"] for site in json.loads(out).get("leaks", ()) if site["verdict"] != "old"]


def _right(one):
    return one and one["status"] == 0 and any(": correct" in line for line in one["lines"])


def tables(results):
    """Whether each sample is right, and says the same, in every way; and the leak."""
    made = []
    lines = {(one["program"], one["way"]): one for one in results if one["kind"] == "sample"}
    rows = []
    for program in SAMPLES:
        found = {way: lines[program, way] for way in WAYS if (program, way) in lines}
        if found:
            said = [one["lines"] for one in found.values()]
            rows.append((program, *(_right(found.get(way)) for way in WAYS), all(one == said[0] for one in said)))
    if rows:
        made.append(Table("JVM samples", ("sample", *WAYS, "output equal"), tuple(rows)))
    leaks = [one for one in results if one["kind"] == "leaks"]
    if leaks:
        rows = tuple((one["named_s"], ", ".join(f"{name}: {site}" for name, site in one["accused"])) for one in leaks)
        note = f"asked: named within {NAMED_S:.0f} s, and nobody else; looks for {WATCH_S:.0f} s at both services"
        made.append(Table("Leak finder", ("seconds until the leak is named", "accused"), rows, (note,)))
    return made
