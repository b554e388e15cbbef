"""What fences cost: the corpus of tests/gpu/fences natively and fenced with every mode, in one process, results compared."""

import json
import math
import os

from harness.bench import native
from harness.child import run_bounded
from harness.table import Table

TIMEOUT_S = 120
ROUNDS = 20
MODES = ("mask", "modulo", "check", "jit", "linked", "relay")


def run(setting, record):
    """The whole corpus; after a kernel that ends the program, the ones behind it."""
    folder = setting.installation.path("fences")
    if not os.path.exists(os.path.join(folder, "cases")):
        record.problem("fences", f"there is no corpus in {folder}: the machine that built the kit had no nvcc")
        return
    with open(os.path.join(folder, "cases"), encoding="ascii") as file:
        names = [line.split()[1] for line in file if line.strip() and not line.startswith("#")]
    left = setting.chosen(names)
    while left:
        left = _measured(setting, record, folder, left)


def _measured(setting, record, folder, names):
    """Measures kernels until one fails; returns those that were not reached."""
    command = [os.path.join(folder, "fences"), folder, "--rounds", str(ROUNDS), "--only", ",".join(names)]
    status, out, err = run_bounded(command, native().environment, TIMEOUT_S)
    done = [json.loads(line) for line in out.splitlines() if line.endswith("}")]
    for one in done:
        record.add("fenced", **one)
        for form in one["forms"]:
            if form["differences"] or form["violations"]:
                record.problem(one["kernel"], f"{form['mode']}: {form['differences']} words differ, {form['violations']} violations")
    left = names[len(done) :]
    if status != 0 and left:
        record.problem(left[0], f"ended with {status}: {err.strip()[-400:]}")
        return left[1:]
    return []


def _mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def _forms(one):
    return {form["mode"]: form for form in one["forms"] if not form["refused"]}


def tables(results):
    """A row a kernel, then the means."""
    found = [(one["kernel"], _forms(one)) for one in results if one["kind"] == "fenced"]
    if not found:
        return []
    modes = [mode for mode in MODES if any(mode in forms for _, forms in found)]
    rows = []
    for kernel, forms in found:
        row = [kernel, forms["native"]["us"], forms["native"]["registers"], forms["native"]["localBytes"]]
        for mode in modes:
            form = forms.get(mode)
            row += [form["ratio"], form["registers"], form["localBytes"]] if form else [None, None, None]
        rows.append(tuple(row + [not any(form["differences"] for form in forms.values())]))
    columns = ["kernel", "native µs", "registers", "local bytes"]
    for mode in modes:
        columns += [mode, "registers", "local bytes"]
    means = []
    for mode in modes:
        ratios = {kernel: forms[mode]["ratio"] for kernel, forms in found if mode in forms}
        worst = max(ratios, key=ratios.get)
        means.append((mode, len(ratios), _mean(ratios.values()), ratios[worst], worst))
    return [
        Table("Fence cost, time over native", tuple(columns + ["results equal"]), tuple(rows), (f"medians of {ROUNDS}",)),
        Table("Fence cost, means", ("mode", "kernels", "geometric mean", "worst", "which"), tuple(means)),
    ]
