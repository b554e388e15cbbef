"""The caches of compiled PTX that Caffe's programs share, filled before anything is measured."""

import contextlib
import os
import re
import tempfile
from unittest import mock

from harness.bench import native
from harness.child import Child, ChildFailed

#: The driver's own cache: large enough for all images, so that native starts are not compilations.
CACHE_BYTES = 4294967296
#: cuBLAS and cuBLASLt alone bring 265 MB of PTX.
FILL_TIMEOUT_S = 240.0


@contextlib.contextmanager
def caches():
    """For all programs that are started meanwhile; CUDA_CACHE_PATH and TESSERA_CACHE_DIR of the caller are taken as they are."""
    folder = tempfile.mkdtemp(prefix="tessera-caffe-caches-")
    extra = {
        "CUDA_CACHE_PATH": os.environ.get("CUDA_CACHE_PATH") or os.path.join(folder, "driver"),
        "CUDA_CACHE_MAXSIZE": str(CACHE_BYTES),
        "TESSERA_CACHE_DIR": os.environ.get("TESSERA_CACHE_DIR") or os.path.join(folder, "tessera"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    with mock.patch.dict(os.environ, extra):
        yield


def fill(setting, record, home, libraries=r"."):
    """Has the driver compile the images of the libraries whose names match, side by side, the largest first.

    A program does it one after the other, at its first start, which takes minutes.
    """
    with open(os.path.join(home, "images"), encoding="utf-8") as file:
        images = [line for line in file if re.match(libraries, line)]
    images.sort(key=lambda line: int(line.split()[2]), reverse=True)
    count = os.cpu_count()
    with contextlib.ExitStack() as stack:
        log = os.path.join(setting.directory, "warm.log")
        workers = []
        for number in range(count):
            child = Child(
                f"warm {number}", [os.path.join(home, "warm"), str(number), str(count)], native().environment, log,
                os.path.join(home, "lib"),
            )  # fmt: skip
            stack.callback(child.close)
            child.write("".join(images).rstrip("\n"))
            child.finish()
            workers.append(child)
        answers = [[int(word) for word in child.read(FILL_TIMEOUT_S).split()] for child in workers]
    loaded, without = (sum(one[at] for one in answers) for at in (0, 1))
    record.add("warm", loaded=loaded, without=without)
    if not loaded:
        raise ChildFailed(f"none of {without} images could be loaded: are the libraries in {home}/lib?")
