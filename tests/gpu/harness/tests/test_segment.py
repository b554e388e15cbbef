"""Reading a segment, and its offsets against the C header."""

import os
import shutil
import struct
import subprocess
import tempfile
import unittest

from harness import segment

HEADER = os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "..", "native-preload", "include", "tessera_abi.h"
)

_PROGRAM = r"""
#include <stdio.h>
#include "tessera_abi.h"
int main(void) {
    printf("MAGIC %llu\n", (unsigned long long)TESSERA_ABI_MAGIC);
    printf("VERSION %u\n", TESSERA_ABI_VERSION);
    printf("SEGMENT_BYTES %zu\n", sizeof(struct tessera_segment));
    printf("COUNTERS_AT %zu\n", offsetof(struct tessera_segment, counters));
    printf("COUNTERS %d\n", TESSERA_COUNTERS);
    printf("THREADS_AT %zu\n", offsetof(struct tessera_segment, threads));
    printf("THREADS %d\n", TESSERA_MAX_THREADS);
    printf("THREAD_BYTES %zu\n", sizeof(struct tessera_thread));
    printf("SUBMITTED_AT %zu\n", offsetof(struct tessera_thread, submitted));
    printf("SUBMISSION_KINDS %d\n", TESSERA_THREAD_COUNTERS);
    printf("KIND_LAUNCH %d\n", TESSERA_KIND_LAUNCH);
    printf("KIND_GRAPH_LAUNCH %d\n", TESSERA_KIND_GRAPH_LAUNCH);
    printf("COUNTER_VMM_CREATES %d\n", TESSERA_COUNTER_VMM_CREATES);
    printf("COUNTER_MANAGED_CONVERSIONS %d\n", TESSERA_COUNTER_MANAGED_CONVERSIONS);
    printf("COUNTER_GATE_WAITS %d\n", TESSERA_COUNTER_GATE_WAITS);
    printf("COUNTER_UNGATED %d\n", TESSERA_COUNTER_UNGATED);
    return 0;
}
"""


class SegmentTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "client-7.segment")
        self.content = bytearray(segment.SEGMENT_BYTES)
        struct.pack_into("<QI", self.content, 0, segment.MAGIC, segment.VERSION)

    def written(self):
        with open(self.path, "wb") as file:
            file.write(self.content)
        return self.path

    def test_counts_of_all_threads_are_summed(self):
        for thread, launches in ((0, 5), (3, 7), (255, 11)):
            at = segment.THREADS_AT + thread * segment.THREAD_BYTES + segment.SUBMITTED_AT
            struct.pack_into("<QQ", self.content, at, launches, 1)
        struct.pack_into("<Q", self.content, segment.COUNTERS_AT + 8 * segment.COUNTER_VMM_CREATES, 42)
        found = segment.read(self.written())
        self.assertEqual([23, 3], found["submitted"][:2])
        self.assertEqual(42, found["counters"][segment.COUNTER_VMM_CREATES])

    def test_files_of_other_kinds_are_refused(self):
        self.content[8] = 0  # the version is written last: this one is not finished
        with self.assertRaises(segment.SegmentError):
            segment.read(self.written())
        self.content = bytearray(64)
        with self.assertRaises(segment.SegmentError):
            segment.read(self.written())

    def test_the_folder_is_the_managers(self):
        self.assertEqual("/x/client-7.segment", segment.segment_path(7, {"TESSERA_SHM_DIR": "/x"}))
        self.assertEqual(f"/dev/shm/tessera-{os.getuid()}/client-7.segment", segment.segment_path(7, {}))

    @unittest.skipUnless(shutil.which("gcc") and os.path.exists(HEADER), "needs gcc and the header of the tree")
    def test_offsets_are_those_of_the_header(self):
        folder = os.path.dirname(self.path)
        source, program = os.path.join(folder, "dump.c"), os.path.join(folder, "dump")
        with open(source, "w", encoding="ascii") as file:
            file.write(_PROGRAM)
        include = os.path.dirname(os.path.abspath(HEADER))
        subprocess.run(["gcc", "-std=c11", f"-I{include}", source, "-o", program], check=True, timeout=60)
        lines = subprocess.run([program], check=True, timeout=10, capture_output=True, text=True).stdout.split("\n")
        compared = 0
        for name, value in (line.split() for line in lines if line):
            self.assertEqual(int(value), getattr(segment, name), name)
            compared += 1
        self.assertEqual(16, compared)


if __name__ == "__main__":
    unittest.main()
