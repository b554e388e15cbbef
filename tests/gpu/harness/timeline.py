"""What a hand-over waits for, from the time lines that TESSERA_MOVE_TRACE writes (native-preload/src/direct/chunks/move_trace.h).

``python3 -m harness.timeline FILE`` prints the rows of the table for a file.
"""

import statistics
import sys
from collections import namedtuple

Event = namedtuple("Event", "ns pid device what chunk bytes")

#: What a page change consists of: its name, from which event to which of the same chunk.
PARTS = {
    "create": ("fill", "created"),
    "map": ("created", "mapped"),
    "set access": ("mapped", "filled"),
    "unmap": ("empty", "unmapped"),
    "release": ("unmapped", "emptied"),
}


class Move:
    """One move of a process in one direction."""

    def __init__(self, out, events):
        self.out = out
        self.events = events
        self.begin_ns = events[0].ns
        self.end_ns = events[-1].ns
        begun = [e for e in events if e.what in ("copy-in", "copy-out")]
        ended = [e for e in events if e.what == "copied"]
        self.bytes = sum(e.bytes for e in ended)
        self.first_copy_ns = begun[0].ns if begun else None
        self.idle_ns, self.alone_ns = _copies_under_way(events)

    def seconds(self):
        """From its first copy to its end; 0 if nothing was copied."""
        return (self.end_ns - self.first_copy_ns) / 1e9 if self.first_copy_ns else 0.0

    def part_us(self, part):
        """Durations of one part of its page changes, microseconds."""
        first, last = PARTS[part]
        begun, found = {}, []
        for event in self.events:
            if event.what == first:
                begun[event.chunk] = event.ns
            elif event.what == last and event.chunk in begun:
                found.append((event.ns - begun.pop(event.chunk)) / 1e3)
        return found


def _copies_under_way(events):
    """Nanoseconds after the first copy in which none, and in which just one, was under way."""
    spent = {0: 0, 1: 0}
    under_way, since = 0, None
    for event in events:
        by = {"copy-in": 1, "copy-out": 1, "copied": -1}.get(event.what, 0)
        if since is not None and under_way in spent:
            spent[under_way] += event.ns - since
        if by > 0 or since is not None:
            since = event.ns
        under_way += by
    return spent[0], spent[1]


def parse(text):
    """The events of a file, in order of time."""
    events = []
    for line in text.splitlines():
        fields = line.split()
        if len(fields) == 6:
            events.append(Event(int(fields[0]), int(fields[1]), int(fields[2]), fields[3], fields[4], int(fields[5])))
    return sorted(events, key=lambda event: event.ns)


def read(path):
    """The events of a file; none if nothing was traced."""
    try:
        with open(path, encoding="utf-8") as file:
            return parse(file.read())
    except FileNotFoundError:
        return []


def moves(events, least_bytes=1 << 30):
    """Moves of all processes that copied at least this much, in order of their beginning."""
    found, open_moves = [], {}
    for event in events:
        key = (event.pid, event.device)
        if event.what in ("move-in", "move-out"):
            open_moves[key] = [event]
        elif key in open_moves:
            open_moves[key].append(event)
            if event.what == "moved":
                collected = open_moves.pop(key)
                found.append(Move(collected[0].what == "move-out", collected))
    return sorted((move for move in found if move.bytes >= least_bytes), key=lambda move: move.begin_ns)


def since(found, begin_ns):
    """The moves that began at that time or later (CLOCK_MONOTONIC)."""
    return [move for move in found if move.begin_ns >= begin_ns]


def figures(found):
    """What the moves of each direction took, medians over the moves; pages in microseconds a chunk."""
    made = {}
    for out in (False, True):
        ones = [move for move in found if move.out == out]
        if not ones:
            continue
        row = {
            "moves": len(ones),
            "bytes": statistics.median(move.bytes for move in ones),
            "gb_per_s": statistics.median(move.bytes / move.seconds() / 1e9 for move in ones),
            "ms": statistics.median((move.end_ns - move.begin_ns) / 1e6 for move in ones),
            "first_copy_ms": statistics.median((move.first_copy_ns - move.begin_ns) / 1e6 for move in ones),
            "no_copy_ms": statistics.median(move.idle_ns / 1e6 for move in ones),
            "one_copy_ms": statistics.median(move.alone_ns / 1e6 for move in ones),
        }
        for part in PARTS:
            spent = sorted(us for move in ones for us in move.part_us(part))
            if spent:
                row[part] = {"median_us": statistics.median(spent), "p90_us": spent[int(0.9 * len(spent))],
                             "sum_ms_a_move": sum(spent) / 1e3 / len(ones)}  # fmt: skip
        made["out" if out else "in"] = row
    return made


def main(path):
    """Prints the figures of a file."""
    for direction, row in figures(moves(read(path))).items():
        print(direction, *(f"{key}={value}" for key, value in row.items()), sep="\n  ")


if __name__ == "__main__":
    main(sys.argv[1])
