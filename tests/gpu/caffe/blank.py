"""Blanks machine code in a copy of a library that the GPU cannot run, so that the copy packs small.

An image in a fat binary with capability below the GPU's generation is never looked at by its driver, which takes PTX
instead; its bytes become zeros, its header and every other byte of the file stay.

    blank.py 90 FILE...      blanks machine code for capabilities below 9.0, in place
    blank.py --list FILE...  prints FILE OFFSET BYTES of every fat binary that has PTX
"""
import mmap
import struct
import sys

FAT_BINARY = struct.pack("<IHH", 0xBA55ED50, 1, 16)
PTX, CUBIN = 1, 2


def entries(view, start):
    """(kind, capability, payload offset, payload bytes) of a fat binary's entries; None where it is none."""
    size = struct.unpack_from("<Q", view, start + 8)[0]
    at, end, found = start + 16, start + 16 + size, []
    if size == 0:
        return None
    if end > len(view):
        return None
    while at < end:
        kind, header, stored = struct.unpack_from("<H2xIQ", view, at)
        capability = struct.unpack_from("<I", view, at + 28)[0] & 0xFFFF
        if header < 64 or at + header + stored > end:
            return None
        found.append((kind, capability, at + header, stored))
        at += header + stored
    return found


def fat_binaries(view):
    """(offset, entries) of every fat binary in the bytes."""
    at = view.find(FAT_BINARY)
    while at >= 0:
        parts = entries(view, at)
        if parts is not None:
            yield at, parts
        at = view.find(FAT_BINARY, at + 16)


def blank(path, below):
    """Blanks all machine code in a file for capabilities below a number (90); returns its images and the bytes blanked."""
    images = blanked = 0
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        if view.find(FAT_BINARY) < 0:
            return 0, 0
        for _, parts in fat_binaries(view):
            images += 1
            for kind, capability, start, stored in parts:
                if kind == CUBIN and capability < below:
                    view[start : start + stored] = bytes(stored)
                    blanked += stored
    return images, blanked


def with_ptx(path):
    """(offset, bytes) of the fat binaries in a file that have PTX."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
        return [
            (at, parts[-1][2] + parts[-1][3] - at)
            for at, parts in fat_binaries(view)
            if any(kind == PTX for kind, *_ in parts)
        ]


if __name__ == "__main__":
    for name in sys.argv[2:]:
        if sys.argv[1] == "--list":
            for offset, size in with_ptx(name):
                print(name, offset, size)
        else:
            print(name, *blank(name, int(sys.argv[1])))
