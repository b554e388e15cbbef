"""Markdown from the raw records that the suites leave, to be read after a run.

Run ``python3 -m harness.table FILE.json...`` to print the tables of raw records; nothing is measured by it.
"""

import dataclasses
import json
import sys

from harness.figures import number


@dataclasses.dataclass(frozen=True)
class Table:
    """A table: title, column names, rows of cells (numbers or text), and notes that go below it."""

    title: str
    columns: tuple
    rows: tuple
    notes: tuple = ()

    def markdown(self):
        """The table in Markdown, ending with a newline."""
        lines = [f"### {self.title}", "", "| " + " | ".join(self.columns) + " |"]
        lines.append("|" + "|".join("---" if index == 0 else "---:" for index in range(len(self.columns))) + "|")
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"row of {len(row)} cells under {len(self.columns)} columns in '{self.title}'")
            lines.append("| " + " | ".join(number(cell).replace("|", "\\|") for cell in row) + " |")
        lines += ["", *(f"- {note}" for note in self.notes)]
        if self.notes:
            lines.append("")
        return "\n".join(lines) + "\n"


def header(facts):
    """One line that says where and when the figures were measured."""
    order = ("date", "gpu", "driver", "cuda", "torch", "triton", "python", "cpus", "kernel", "commit")
    names = {"gpu": "", "cuda": "CUDA ", "torch": "PyTorch ", "triton": "Triton ", "python": "Python "}
    names.update({"cpus": "CPUs ", "commit": "Tessera ", "driver": "driver ", "kernel": "kernel ", "date": ""})
    return ", ".join(f"{names[key]}{facts[key]}" for key in order if facts.get(key)) + "\n"


def render(record):
    """Markdown of one raw record: its heading, where it was measured, its tables and its problems."""
    from harness.suites import load

    parts = [f"## {record['suite']}\n", header(record["machine"])]
    parts += [table.markdown() for table in load(record["suite"]).tables(record["results"])]
    if record["problems"]:
        parts.append(
            "Problems:\n\n" + "".join(f"- {problem['step']}: {problem['error']}\n" for problem in record["problems"])
        )
    return "\n".join(parts)


def main(paths):
    """Prints the tables of the named raw records."""
    if not paths:
        sys.exit("usage: python3 -m harness.table RECORD.json...")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            print(render(json.load(file)))


if __name__ == "__main__":
    main(sys.argv[1:])
