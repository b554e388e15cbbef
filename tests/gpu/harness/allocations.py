"""Traces of allocations in the form that is kept: what was made gets a number instead of an address.

A line an operation: ``+ N BYTES`` allocates, ``- N`` frees; ``r N BYTES`` reserves addresses without memory, ``l N``
releases them; ``c N BYTES`` makes memory without addresses, ``d N`` gives it back. N is the smallest number that is not in
use for anything. The file is compressed with gzip. ``tests/bench`` replays it.
"""

import gzip
import heapq

#: Driver entries that make something, and the ones that end it: what they make, and the argument that has its bytes.
MAKERS = {
    "cuMemAlloc_v2": "+",
    "cuMemAllocManaged": "+",
    "cuMemAllocAsync": "+",
    "cuMemAllocAsync_ptsz": "+",
    "cuMemAllocFromPoolAsync": "+",
    "cuMemAllocFromPoolAsync_ptsz": "+",
    "cuMemAddressReserve": "r",
    "cuMemCreate": "c",
}
ENDERS = {
    "cuMemFree_v2": "+",
    "cuMemFreeAsync": "+",
    "cuMemFreeAsync_ptsz": "+",
    "cuMemAddressFree": "r",
    "cuMemRelease": "c",
}
END_OF = {"+": "-", "r": "l", "c": "d"}
#: Fields of a line of TESSERA_TRACE before the eight arguments: time, thread, entry, result.
FIRST_ARGUMENT = 4
#: The first of those behind the arguments is what a call waited for; what it answered may follow.
FIELDS = 14


class Numbers:
    """Gives numbers to what is live. One thread."""

    def __init__(self):
        self._live = {}
        self._unused = []
        self._next = 0
        #: Frees whose line comes after that of the next allocation at the same address: two threads, one file.
        self._overtaken = {}

    def make(self, kind, address, size):
        """The lines for something that was made."""
        lines = []
        if (kind, address) in self._live:
            lines.append(self._end(kind, address))
            self._overtaken[kind, address] = self._overtaken.get((kind, address), 0) + 1
        number = heapq.heappop(self._unused) if self._unused else self._next
        self._next = max(self._next, number + 1)
        self._live[kind, address] = number
        return [*lines, f"{kind} {number} {size}\n"]

    def end(self, kind, address):
        """The lines for something that was ended; none for what was there before the trace began."""
        if self._overtaken.get((kind, address)):
            self._overtaken[kind, address] -= 1
            return []
        return [self._end(kind, address)] if (kind, address) in self._live else []

    def _end(self, kind, address):
        number = self._live.pop((kind, address))
        heapq.heappush(self._unused, number)
        return f"{END_OF[kind]} {number}\n"


def operations(lines):
    """The operations of a trace: events ``A ADDRESS BYTES`` and ``F ADDRESS``, or lines of TESSERA_TRACE."""
    numbers = Numbers()
    for line in lines:
        fields = line.split()
        if fields[:1] == ["A"]:
            yield from numbers.make("+", int(fields[1], 16), int(fields[2]))
        elif fields[:1] == ["F"]:
            yield from numbers.end("+", int(fields[1], 16))
        elif len(fields) >= FIELDS and fields[3] == "0":  # a call that succeeded; the last line may be half written
            first = int(fields[FIRST_ARGUMENT], 16)
            if fields[2] in MAKERS:
                yield from numbers.make(MAKERS[fields[2]], first, int(fields[FIRST_ARGUMENT + 1], 16))
            elif fields[2] in ENDERS:
                yield from numbers.end(ENDERS[fields[2]], first)


def keep(source, target, limit_bytes):
    """Writes a trace in the form that is kept, its end cut off where it would be larger than the limit.

    Returns operations, those that were kept, and bytes.
    """
    with open(source, encoding="ascii", errors="replace") as lines:
        every = list(operations(lines))
    kept = len(every)
    while True:
        packed = gzip.compress("".join(every[:kept]).encode("ascii"), 9, mtime=0)
        if len(packed) <= limit_bytes:
            break
        kept = kept * 9 // 10 * limit_bytes // len(packed)  # an estimate; not below it for good
    with open(target, "wb") as file:
        file.write(packed)
    return len(every), kept, len(packed)
