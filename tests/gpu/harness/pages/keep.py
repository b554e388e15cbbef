"""Copies the raw records of a run to where they are committed: ``tests/gpu/results/DATE-COMMIT/SUITE.json``.

    tests/gpu/keep RESULTS... [--into FOLDER] [--baseline]

RESULTS are folders that ``tests/gpu/run --out`` left, or single records. Date and commit are those of the record
itself. Lists of numbers that make a record large (rates a tenth of a second apart, single steps) are cut to their
beginning, and the record says where. A record of an older version that ran beside the new one, for comparison, is a
baseline: RESULTS.md does not take it for the latest.
"""

import argparse
import json
import os
import re
import sys

from harness.pages.page import figures_of

#: Most bytes of a committed record; beyond that, lists get shorter.
LIMIT_BYTES = 200_000
#: Lengths to which lists are cut, one after the other, until the record fits.
LENGTHS = (1000, 200, 50, 10)
UNKNOWN = "unknown"
#: The folders of a source file in a traceback: where a machine has its copy says nothing.
_FOLDERS = re.compile(r"(?<![\w:/])/(?:[^\s\"'/]+/)+(?=[^\s\"'/]+\.(?:py|java|c|cu|so)\b)")


class NotKept(Exception):
    """A record cannot be kept; says why."""


def without_folders(value):
    """The same with files of programs named without their folders."""
    if isinstance(value, dict):
        return {name: without_folders(one) for name, one in value.items()}
    if isinstance(value, list):
        return [without_folders(one) for one in value]
    return _FOLDERS.sub("", value) if isinstance(value, str) else value


def shortened(value, length, cut):
    """The same with no list longer than that; CUT counts the entries that went."""
    if isinstance(value, dict):
        return {name: shortened(one, length, cut) for name, one in value.items()}
    if isinstance(value, list):
        if len(value) > length:
            cut.append(len(value) - length)
        return [shortened(one, length, cut) for one in value[:length]]
    return value


def trimmed(record, limit_bytes=LIMIT_BYTES):
    """The record as text of at most this many bytes. Results and problems themselves are all kept, their lists are not."""
    for length in (None, *LENGTHS):
        cut = []
        kept = record
        if length is not None:
            results = [{name: shortened(one, length, cut) for name, one in result.items()} for result in record["results"]]
            kept = {**record, "results": results, "trimmed": {"lists_to": length, "entries_left_out": sum(cut)}}
        text = json.dumps(kept, ensure_ascii=False, indent=None, separators=(",", ":")) + "\n"
        if len(text.encode()) <= limit_bytes:
            return text
    raise NotKept(f"{record['suite']}: {len(text.encode())} bytes with lists of {LENGTHS[-1]}: more than {limit_bytes}")


def folder_of(record):
    """``DATE-COMMIT`` of a record."""
    machine = record["machine"]
    date = str(machine.get("date", ""))[:10]
    if len(date) != 10:
        raise NotKept(f"{record['suite']}: it does not say when it was made")
    return f"{date}-{machine.get('commit') or UNKNOWN}"


def records(paths):
    """Paths of raw records in folders, or named themselves."""
    for path in paths:
        if os.path.isdir(path):
            yield from sorted(os.path.join(path, name) for name in os.listdir(path) if name.endswith(".json"))
        else:
            yield path


def keep(path, into, baseline=False):
    """Copies one record; returns where to, or None for a file that is none."""
    with open(path, encoding="utf-8") as file:
        record = without_folders(json.load(file))
    if not isinstance(record, dict) or not {"suite", "machine", "results", "problems"} <= set(record):
        return None
    target = os.path.join(into, folder_of(record), f"{record['suite']}.json")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    number = 2
    if baseline:
        record = {**record, "baseline": True}
    figures = figures_of(record)  # of the whole record: what is kept may be shorter
    text = trimmed({**record, "figures": figures} if figures else record)
    while os.path.exists(target):
        with open(target, encoding="utf-8") as file:
            if file.read() == text:
                return target  # kept already
        # A suite that ran in parts, or again: nothing that was measured is overwritten.
        target = os.path.join(into, folder_of(record), f"{record['suite']}-{number}.json")
        number += 1
    with open(target, "w", encoding="utf-8") as file:
        file.write(text)
    return target


def main(words):
    """Keeps all records; exit status 1 where there was none, or one could not be kept."""
    here = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    parser = argparse.ArgumentParser(prog="tests/gpu/keep", description="Copies raw records to where they are committed.")
    parser.add_argument("results", nargs="+", help="folders of tests/gpu/run --out, or records")
    parser.add_argument("--into", default=os.path.join(here, "results"), help="folder of kept results (default tests/gpu/results)")
    parser.add_argument("--baseline", action="store_true", help="the records are of an older version that ran beside, for comparison")
    options = parser.parse_args(words)
    kept, failed = 0, False
    for path in records(options.results):
        try:
            target = keep(path, options.into, options.baseline)
        except (NotKept, OSError, ValueError) as problem:
            print(f"tests/gpu/keep: {path}: {problem}", file=sys.stderr)
            failed = True
            continue
        if target:
            print(target)
            kept += 1
    if not kept:
        print("tests/gpu/keep: there is no record to keep", file=sys.stderr)
    return 1 if failed or not kept else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
