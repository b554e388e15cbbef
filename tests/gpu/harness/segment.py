"""Reads a client's counters by mapping its segment file, as anybody may (SPEC.md, section 6).

The offsets are those of native-preload/include/tessera_abi.h; a self test compares them with the header.
"""

import mmap
import os
import struct

MAGIC = 0x0041524553534554
VERSION = 1
SEGMENT_BYTES = 131072
COUNTERS_AT = 12288
COUNTERS = 128
THREADS_AT = 16384
THREADS = 256
THREAD_BYTES = 256
SUBMITTED_AT = 16
SUBMISSION_KINDS = 14

KIND_LAUNCH = 0
KIND_GRAPH_LAUNCH = 1
COUNTER_VMM_CREATES = 7
COUNTER_MANAGED_CONVERSIONS = 3
COUNTER_GATE_WAITS = 13
COUNTER_UNGATED = 18


class SegmentError(Exception):
    """The file is no segment of this version."""


def segment_path(client_id, environment=os.environ):
    """Where the manager of this user keeps the segment of a client."""
    folder = environment.get("TESSERA_SHM_DIR") or f"/dev/shm/tessera-{os.getuid()}"
    return os.path.join(folder, f"client-{client_id}.segment")


def read(path):
    """Sums over all threads of the client: ``submitted`` by kind and ``counters`` by index."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as memory:
        if len(memory) < SEGMENT_BYTES:
            raise SegmentError(f"{path} has {len(memory)} bytes")
        magic, version = struct.unpack_from("<QI", memory, 0)
        if magic != MAGIC or version != VERSION:
            raise SegmentError(f"{path} has magic {magic:#x} and version {version}")
        submitted = [0] * SUBMISSION_KINDS
        for thread in range(THREADS):
            at = THREADS_AT + thread * THREAD_BYTES + SUBMITTED_AT
            for kind, count in enumerate(struct.unpack_from(f"<{SUBMISSION_KINDS}Q", memory, at)):
                submitted[kind] += count
        return {"submitted": submitted, "counters": list(struct.unpack_from(f"<{COUNTERS}Q", memory, COUNTERS_AT))}
