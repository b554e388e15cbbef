"""The closed-library kit: what is packed comes back, and only machine code that cannot run is blanked."""

import contextlib
import io
import os
import random
import shutil
import struct
import sys
import tempfile
import unittest
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), "caffe"))

import blank  # noqa: E402
import parts  # noqa: E402

PTX, CUBIN = 1, 2


def _entry(kind, capability, payload):
    header = struct.pack("<HHIQ", kind, 0x101, 64, len(payload)) + bytes(12) + struct.pack("<I", capability)
    return header + bytes(64 - len(header)) + payload


def _fat_binary(*entries):
    contents = b"".join(entries)
    return blank.FAT_BINARY + struct.pack("<Q", len(contents)) + contents


class CaffeKitTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="caffe-kit-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *words):
        return os.path.join(self.folder, *words)

    def write(self, name, contents):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as file:
            file.write(contents)

    def read(self, *words):
        with open(self.path(*words), "rb") as file:
            return file.read()

    @unittest.skipIf(shutil.which("xz") is None, "no xz")
    def test_files_come_back_and_missing_parts_are_named(self):
        noise = random.Random(1).randbytes(30000)
        self.write("files/lib/libcublas.so", noise)
        self.write("files/lib/libcudnn_cnn.so", noise[::-1])
        self.write("files/train", b"#!/bin/sh\n")
        os.chmod(self.path("files/train"), 0o755)
        with mock.patch.object(parts, "PART_BYTES", 20000), contextlib.redirect_stdout(io.StringIO()) as said:
            parts.pack(self.path("files"), self.path("target"))
            parts.unpack(self.path("target"), self.path("out"))
            self.assertEqual(noise, self.read("out", "lib", "libcublas.so"))
            self.assertEqual(noise[::-1], self.read("out", "lib", "libcudnn_cnn.so"))
            self.assertTrue(os.access(self.path("out", "train"), os.X_OK))
            last = max(name for name in os.listdir(self.path("target")))
            shutil.rmtree(self.path("target", last))
            parts.unpack(self.path("target"), self.path("out"))
        self.assertIn("left out, a part is missing: lib/libcudnn_cnn.so", said.getvalue())
        self.assertFalse(os.path.exists(self.path("out", "lib", "libcudnn_cnn.so")))
        self.assertEqual(noise, self.read("out", "lib", "libcublas.so"))

    def test_only_machine_code_for_older_gpus_is_blanked(self):
        before = b"host code" + bytes(7)
        fat = _fat_binary(_entry(CUBIN, 80, b"old code"), _entry(PTX, 80, b"old text"), _entry(CUBIN, 90, b"new code"))
        # The magic number alone is no fat binary.
        damaged = blank.FAT_BINARY + struct.pack("<Q", 1 << 40) + b"CUBIN?"
        self.write("library", before + fat + damaged)
        self.assertEqual((1, 8), blank.blank(self.path("library"), 90))
        expected = before + fat.replace(b"old code", bytes(8)) + damaged
        self.assertEqual(expected, self.read("library"))
        self.assertEqual([(len(before), len(fat))], blank.with_ptx(self.path("library")))


if __name__ == "__main__":
    unittest.main()
