"""Makes RESULTS.md, and the table of figures in README.md, of the raw records that are committed under results/.

    tests/gpu/page            writes both
    tests/gpu/page --check    says whether they are what the records give; exit code 1 if not

Nothing is measured by it. A figure is read from the newest record that has it; the trend shows those before, the oldest first.
"""

import argparse
import json
import pathlib
import re
import sys

from harness.figures import number
from harness.pages.page_figures import FIGURES
from harness.suites import load

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS = HERE / "results"
PAGE = HERE / "RESULTS.md"
#: What figures of programs without PTX say since their machine code is fenced.
MOSTLY = "partly fenced"
MACHINE_CODE_SINCE = "2026-11-26 20:33 UTC"
README = HERE.parent.parent / "README.md"
#: Between these lines README.md has the figures that decide whether somebody reads on.
BEGIN, END = "<!-- figures: tests/gpu/page -->", "<!-- end of figures -->"
TREND = 4
#: A page that nobody reads to its end has failed.
MOST_LINES = 150


def tables(record):
    """The tables of a raw record; none, and a line on standard error, if its suite cannot read it: it may be older than the suite."""
    try:
        return load(record["suite"]).tables(record["results"])
    except (LookupError, ValueError, TypeError) as problem:
        where = f"{record['machine'].get('date', '')}, {record['machine'].get('commit', '?')}"
        print(f"tests/gpu/page: no figures in the record of {record['suite']} ({where}): {problem!r}", file=sys.stderr)
        return []


def figures_of(record):
    """The page's figures in a raw record, by key."""
    found = {}
    made = None
    for figure in FIGURES:
        if figure.suite != record["suite"]:
            continue
        made = tables(record) if made is None else made
        table = next((one for one in made if one.title.startswith(figure.table)), None)
        if table is None or not table.rows:
            continue
        try:
            value = figure.pick(table)
        except (ValueError, IndexError):
            value = None
        if value is not None:
            found[figure.key] = value
    return found


def kept(record):
    """Those that were taken of the whole record when it was kept, else those of what is left of it, without counts of what may be missing."""
    if "figures" in record:
        return record["figures"]
    counts = {figure.key for figure in FIGURES if figure.counts} if "trimmed" in record else set()
    return {key: value for key, value in figures_of(record).items() if key not in counts}


def met(asked, value):
    """Whether a value is what was asked; None: nothing was, or it cannot be compared."""
    parts = re.fullmatch(r"([≥≤=]) (\S+)", asked)
    if not parts:
        return None
    how, bound = parts.groups()
    if bound == "yes":
        return value is True
    if isinstance(value, str):
        leading = re.match(r"[\d.]+", value)
        if not leading:
            return None
        value = float(leading.group())
    bound = float(bound)
    return {"≥": value >= bound, "≤": value <= bound, "=": value == bound}[how]


def gpu(machine):
    """Its short name."""
    name = re.search(r"(H\d00|A\d00|L\d0S?|B\d00)", machine.get("gpu", ""))
    return name.group(1) if name else machine.get("gpu", "?")


def collected(folder):
    """For each key what the records say, the newest last: (value, machine). Baselines are left out."""
    records = []
    for path in folder.glob("*/*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        if "machine" in record and not record.get("baseline"):
            records.append((record["machine"].get("date", ""), str(path), record))
    found = {}
    for _, _, record in sorted(records, key=lambda one: one[:2]):
        for key, value in kept(record).items():
            found.setdefault(key, []).append((value, record["machine"]))
    return found


def latest(figure, value):
    """A value as it is shown, and whether it is what was asked for."""
    so = met(figure.asked, value)
    return number(value) + ("" if so is None else ", met" if so else ", **missed**")


def isolation(figure, machine):
    """How programs were kept apart when a value was measured."""
    return "unfenced" if figure.fenced == MOSTLY and machine.get("date", "") < MACHINE_CODE_SINCE else figure.fenced


def row(figure, values):
    """One line of the table, of a figure that was measured."""
    value, machine = values[-1]
    where = f"{machine.get('date', '')[:10]}, {gpu(machine)}, `{machine.get('commit', '?')[:8]}`"
    trend = " → ".join(number(before) for before, _ in values[-TREND:]) if len(values) > 1 else ""
    return f"| {figure.what} | {isolation(figure, machine)} | {figure.asked} | {latest(figure, value)} | {where} | `{figure.command}` | {trend} |"


def page(folder=RESULTS):
    """The whole page."""
    found = collected(folder)
    missing = [f"{figure.what} (`{figure.command}`)" for figure in FIGURES if figure.key not in found]
    lines = [
        "# Measured on GPUs",
        "",
        "Made by `tests/gpu/page` from the records under `results/`. Each record names its machine, driver and versions. `FINDINGS.md` has what investigations"
        " taught. Commands are those of `tests/gpu/run`, in a kit (`README.md`). Where a figure compares with native execution, time-slicing or MPS, both were"
        " measured in the same run. Isolation: \"turns\": one program is on the GPU at a time. \"fenced\": programs share one context, and their kernels are"
        " fenced. \"partly fenced\": PyTorch's libraries contain machine code only; those of its kernels are fenced that MACHINE.md does not name as"
        " refused. \"unfenced\": the figure is older than these fences, or is the control of an attack.",
        "",
        "| figure | isolation | asked | latest | measured | command | trend |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        *(row(figure, found[figure.key]) for figure in FIGURES if figure.key in found),
        *(["", "Not measured since records are kept: " + "; ".join(missing) + "."] if missing else []),
    ]
    if len(lines) > MOST_LINES:
        raise ValueError(f"{len(lines)} lines: more than {MOST_LINES}")
    return "\n".join(lines) + "\n"


def readme(text, folder=RESULTS):
    """README.md with today's figures in it."""
    found = collected(folder)
    rows = [
        f"| {figure.what} | {isolation(figure, found[figure.key][-1][1])} | {figure.asked} | {latest(figure, found[figure.key][-1][0])} | {gpu(found[figure.key][-1][1])}, {found[figure.key][-1][1].get('date', '')[:10]} |"
        for figure in FIGURES
        if figure.front and figure.key in found
    ]
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    head = "| figure | isolation | asked | measured | on, when |\n| --- | --- | --- | --- | --- |\n"
    return before + BEGIN + "\n" + head + "".join(one + "\n" for one in rows) + END + after


def main(arguments):
    """The command."""
    parser = argparse.ArgumentParser(prog="tests/gpu/page", description="Makes RESULTS.md and README.md's table of the records under results/.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if a page is not what the records give")
    options = parser.parse_args(arguments)
    wanted = {PAGE: page(), README: readme(README.read_text(encoding="utf-8"))}
    for path, text in wanted.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            sys.exit(f"{path} is not what the records give: run tests/gpu/page")
        path.write_text(text, encoding="utf-8")
        print(f"{path}: {len(text.splitlines())} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
