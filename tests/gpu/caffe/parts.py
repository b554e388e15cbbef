"""Packs a folder into parts that a limit on transfers lets through, and unpacks them again.

    parts.py pack FOLDER TARGET         makes TARGET/part-1, part-2, ... of at most 50 MiB each
    parts.py unpack TARGET FOLDER       unpacks every file whose parts are there, names the others, checks each

A part holds pieces of xz files; part 1 also the list of files with their sums. Unpacking uses all cores.
"""

import concurrent.futures
import hashlib
import json
import lzma
import os
import shutil
import subprocess
import sys
import time

PART_BYTES = 50 << 20
SMALL_BYTES = 1 << 20
LEVEL = "-4"
LIST = "files.json"


def _files(folder):
    for where, _, names in os.walk(folder):
        for name in sorted(names):
            yield os.path.relpath(os.path.join(where, name), folder)


def _sum(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _order(folder, name):
    """What is small and what cuBLAS needs comes first; what only some cases need last, so that others do without it."""
    small = os.path.getsize(os.path.join(folder, name)) < SMALL_BYTES
    return ("cnn" in name, "cufft" in name, not small, "cublas" not in name, name)


def _packed(path):
    return subprocess.run(["xz", LEVEL, "-T2", "-c", path], stdout=subprocess.PIPE, check=True).stdout


def pack(folder, target):
    """Fills the parts one after the other; a file may go on in the next."""
    listed, part, used = [], 1, 0
    os.makedirs(os.path.join(target, "part-1"))
    for name in sorted(_files(folder), key=lambda each: _order(folder, each)):
        path = os.path.join(folder, name)
        packed = _packed(path)
        pieces, at = [], 0
        while at < len(packed):
            if used == PART_BYTES:
                part, used = part + 1, 0
                os.makedirs(os.path.join(target, f"part-{part}"))
            taken = packed[at : at + PART_BYTES - used]
            piece = f"part-{part}/{len(listed)}-{len(pieces)}.xz"
            with open(os.path.join(target, piece), "wb") as file:
                file.write(taken)
            pieces.append(piece)
            at, used = at + len(taken), used + len(taken)
        listed.append({"name": name, "mode": os.stat(path).st_mode & 0o777, "sha256": _sum(path), "pieces": pieces})
    with open(os.path.join(target, "part-1", LIST), "w", encoding="utf-8") as file:
        json.dump(listed, file)


def _unpack(target, folder, entry):
    path = os.path.join(folder, entry["name"])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    decoder = lzma.LZMADecompressor()
    with open(path, "wb") as file:
        for piece in entry["pieces"]:
            with open(os.path.join(target, piece), "rb") as packed:
                while block := packed.read(1 << 20):
                    file.write(decoder.decompress(block))
    if _sum(path) != entry["sha256"]:
        raise ValueError(f"{entry['name']} is damaged")
    os.chmod(path, entry["mode"])


def unpack(target, folder):
    """Unpacks what is there, in place of the folder."""
    with open(os.path.join(target, "part-1", LIST), encoding="utf-8") as file:
        listed = json.load(file)
    there, missing = [], []
    for entry in listed:
        whole = all(os.path.exists(os.path.join(target, piece)) for piece in entry["pieces"])
        (there if whole else missing).append(entry)
    shutil.rmtree(folder, ignore_errors=True)
    started = time.monotonic()
    with concurrent.futures.ProcessPoolExecutor() as pool:
        for done in [pool.submit(_unpack, target, folder, entry) for entry in there]:
            done.result()
    print(f"{len(there)} files in {time.monotonic() - started:.1f} s")
    for entry in missing:
        print(f"left out, a part is missing: {entry['name']}")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
        sys.exit(__doc__)
    if sys.argv[1] == "pack":
        pack(sys.argv[2], sys.argv[3])
    else:
        unpack(sys.argv[2], sys.argv[3])
