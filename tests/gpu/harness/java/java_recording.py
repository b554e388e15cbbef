"""What the agent's records cost a loop of launches by JCuda: blocks with and without records in turn, in one process.

What tells two processes apart (where their memory lies, which core they got, what their compilers chose) is more than what
recording costs; blocks of a few milliseconds in turn, of code that was compiled once, do not differ in it. JMH's
`DeviceLaunchBenchmark` (`tests/bench`) runs them; what two blocks without records differ by says how much means nothing.
"""

import glob
import json
import os
import statistics

from harness.child import ChildFailed, run_bounded
from harness.table import Table

BENCHMARK = "io.tessera.bench.agent.DeviceLaunchBenchmark"
JVM_OPTIONS = "--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow -XX:+UseSerialGC"
FORKS, WARM, ITERATIONS = 2, 3, 5
TIMEOUT_S = 120.0
#: Largest ratio by mode, from the issue that asked for them.
ASKED = {"off": 1.002, "sampled:64": 1.01}


def run(kit, record, environment, directory):
    """``kit`` is the suite's; the kit's folder ``bench/agent`` holds the benchmark."""
    jars = sorted(glob.glob(os.path.join(kit.bench, "*.jar"))) + kit.jars
    if len(jars) == len(kit.jars):
        raise FileNotFoundError(f"no benchmark in {kit.bench}")
    results = os.path.join(directory, "recording-jmh.json")
    counts = ["-f", str(FORKS), "-wi", str(WARM), "-i", str(ITERATIONS), "-foe", "true", "-rf", "json", "-rff", results]
    options = [*JVM_OPTIONS.split(), f"-Djava.io.tmpdir={kit.unpacked()}"]
    # The forks take these options over.
    command = [kit.java, *options, "-cp", ":".join(jars), "org.openjdk.jmh.Main", BENCHMARK, *counts]
    status, out, err = run_bounded(command, environment, TIMEOUT_S)
    if status != 0 or not os.path.exists(results):
        raise ChildFailed(f"JMH ended with {status}: {(err or out).strip()[-400:]}")
    with open(results, encoding="utf-8") as file:
        for one in json.load(file):
            counters = {name: one["secondaryMetrics"][name]["rawData"] for name in ("plainNs", "againNs", "recordedNs", "launches")}
            for fork in range(len(counters["launches"])):
                for iteration in range(len(counters["launches"][fork])):
                    values = {name: data[fork][iteration] for name, data in counters.items()}
                    record.add("recording", mode=one["params"]["mode"], fork=fork, **values)


def tables(results):
    """Medians over the iterations of all processes."""
    modes = {}
    for one in results:
        if one["kind"] == "recording":
            modes.setdefault(one["mode"], []).append(one)
    rows = []
    for mode, found in modes.items():
        ratios = [2 * one["recordedNs"] / (one["plainNs"] + one["againNs"]) for one in found]
        noise = [one["againNs"] / one["plainNs"] for one in found]
        launch = statistics.median(one["plainNs"] / one["launches"] for one in found)
        asked, ratio = ASKED.get(mode), statistics.median(ratios)
        verdict = f"≤ {asked}: {'met' if ratio <= asked else 'missed'}" if asked else "–"
        rows.append((mode, f"{launch:.0f}", _spread(ratios), _spread(noise), verdict))
    if not rows:
        return []
    columns = ("recording", "a launch, ns", "with records / without", "without / without", "asked")
    count = len(next(iter(modes.values())))
    note = f"JMH, JCuda without Tessera; processor time of blocks in turn within a process; median (lowest–highest) of {count} iterations"
    return [Table("Records of launches", columns, tuple(rows), (note,))]


def _spread(ratios):
    return f"{statistics.median(ratios):.4f} ({min(ratios):.4f}–{max(ratios):.4f})"
