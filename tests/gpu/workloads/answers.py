"""Asks the driver everything whose answer may decide what a library does, and prints the answers as one JSON object.

    answers.py --names FILE

FILE lists the driver's exported names, one a line; each is looked up by cuGetProcAddress for several versions and flags.
Answers are text by question. Addresses and handles are not among them, or stand as words that mean the same in every process.
"""

import argparse
import ctypes
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from answer_driver import Driver  # noqa: E402  (the path has to be set first)
from answer_kernels import ask_kernels  # noqa: E402
from answer_memory import ask_memory  # noqa: E402

DEVICE_ATTRIBUTES = range(0, 201)
LIMITS = range(0, 10)
VERSIONS = (3000, 3020, 4000, 7000, 9020, 10000, 11000, 11040, 12000, 12050, 13000, 99000)
#: By the runtime and the libraries: their names in cuda's own words are not known.
TABLES = (
    "6bd5fb6c5bf4e74a8987d93912fd9df9", "d4082055bde6704b8d34ba123c66e1f2", "a094798c2e742e7493f20800200c0a66",
    "42d85a8123f6cb478298f6e78a3aecdc", "f8cff95121468b4eb9e2fb469e7c0dd9", "c693336e1121df11a8c368f355d89593",
    "263e88607cd2614392f6bbd5006dfa7e", "21318c60971432488ca641ff7324c8f2", "1734dc26800d47458726c0f1e7dd8bca",
    "6e163fbeb958444d835ce182aff1991e", "00000000000000000000000000000000",
)  # fmt: skip
PROPERTIES_BYTES = 2048


def ask_device(driver):
    """The device, without a context."""
    driver.ask("driver version", "cuDriverGetVersion")
    driver.ask("devices", "cuDeviceGetCount")
    for attribute in DEVICE_ATTRIBUTES:
        driver.ask(f"device attribute {attribute}", "cuDeviceGetAttribute", attribute, 0)
    driver.ask("device memory", "cuDeviceTotalMem_v2", 0, out=ctypes.c_size_t)
    driver.ask("compute capability", "cuDeviceComputeCapability", 0, outs=2)
    for name, size, arguments in (("cuDeviceGetName", 96, (96, 0)), ("cuDeviceGetPCIBusId", 32, (32, 0))):
        text = ctypes.create_string_buffer(size)
        driver.note(name, driver.call(name, text, *arguments), text.value.decode())
    for name in ("cuDeviceGetUuid", "cuDeviceGetUuid_v2"):
        driver.words(name, name, 0, count=4)
    luid, mask = ctypes.create_string_buffer(8), ctypes.c_uint()
    driver.note("cuDeviceGetLuid", driver.call("cuDeviceGetLuid", luid, ctypes.byref(mask), 0), luid.raw.hex(), mask.value)
    driver.words("cuDeviceGetProperties", "cuDeviceGetProperties", 0, count=14)
    for kind in range(0, 3):
        driver.ask(f"exec affinity {kind}", "cuDeviceGetExecAffinitySupport", kind, 0)
    for attribute in range(0, 7):
        driver.ask(f"peer attribute {attribute}", "cuDeviceGetP2PAttribute", attribute, 0, 0)
    driver.ask("peer access to itself", "cuDeviceCanAccessPeer", 0, 0)
    for operation in range(0, 14):
        asked = ctypes.c_int(operation)
        driver.ask(f"host atomics {operation}", "cuDeviceGetHostAtomicCapabilities", ctypes.byref(asked), 1, 0, out=ctypes.c_uint)
    for kind in range(0, 4):
        driver.ask(f"graph memory {kind}", "cuDeviceGetGraphMemAttribute", 0, kind, out=ctypes.c_uint64, place=2)
    driver.ask("primary context", "cuDevicePrimaryCtxGetState", 0, place=1, outs=2)


def ask_context(driver):
    """The context, its limits and its streams."""
    context = ctypes.c_void_p()
    driver.need("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    driver.need("cuCtxSetCurrent", context)
    driver.ask("primary context, retained", "cuDevicePrimaryCtxGetState", 0, place=1, outs=2)
    driver.ask("context version", "cuCtxGetApiVersion", context, place=1)
    driver.ask("context flags", "cuCtxGetFlags")
    driver.ask("context device", "cuCtxGetDevice")
    driver.ask("cache config", "cuCtxGetCacheConfig")
    driver.ask("shared memory config", "cuCtxGetSharedMemConfig")
    driver.ask("stream priorities", "cuCtxGetStreamPriorityRange", outs=2)
    driver.ask("loading mode", "cuModuleGetLoadingMode")
    for limit in LIMITS:
        driver.ask(f"limit {limit}", "cuCtxGetLimit", limit, out=ctypes.c_size_t)
    for kind in range(0, 2):
        driver.words(f"context affinity {kind}", "cuCtxGetExecAffinity", kind, count=2)
    for code in (0, 1, 2, 100, 201, 400, 700, 719, 801, 999, 12345):
        for entry in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            driver.note(f"{entry} {code}", driver.call(entry, code, ctypes.byref(text)), text.value)
    _streams(driver)
    for form in (0x01, 0x02, 0x03, 0x08, 0x0A, 0x10, 0x20):
        for channels in (1, 2, 4):
            driver.ask(
                f"linear texture of {channels} × {form:#x}", "cuDeviceGetTexture1DLinearMaxWidth", form, channels, 0, out=ctypes.c_size_t
            )


def _streams(driver):
    for flags in (0, 1):
        for priority in (-100, -5, -1, 0, 1):
            stream = ctypes.c_void_p()
            driver.need("cuStreamCreateWithPriority", ctypes.byref(stream), flags, priority)
            name = f"stream {flags} {priority}"
            driver.ask(f"{name} flags", "cuStreamGetFlags", stream, place=1)
            driver.ask(f"{name} priority", "cuStreamGetPriority", stream, place=1)
            driver.ask(f"{name} device", "cuStreamGetDevice", stream, place=1)
            driver.note(f"{name} query", driver.call("cuStreamQuery", stream), "idle")
            for attribute in range(0, 17):
                driver.words(f"{name} attribute {attribute}", "cuStreamGetAttribute", stream, attribute, count=16, place=2)
            driver.ask(f"{name} capturing", "cuStreamIsCapturing", stream, place=1)
            driver.call("cuStreamDestroy_v2", stream)
    for name, handle in (("default", 0), ("legacy", 1), ("per thread", 2)):
        stream = ctypes.c_void_p(handle)
        driver.ask(f"{name} stream flags", "cuStreamGetFlags", stream, place=1)
        driver.ask(f"{name} stream priority", "cuStreamGetPriority", stream, place=1)
        driver.ask(f"{name} stream capturing", "cuStreamIsCapturing", stream, place=1)


def ask_names(driver, path):
    """Which names there are, and which of them are found for which version: 0 null, 1 not, e an error."""
    with open(path, encoding="ascii") as file:
        exported = file.read().split()
    for name in exported:
        driver.note(f"exported {name}", 0, driver.has(name))
    for name in sorted({re.sub(r"(_v\d+)?(_pt[ds]s?z?)?$", "", name) for name in exported}):
        found = ""
        for flags in (0, 1, 2):
            for version in VERSIONS:
                pointer, status = ctypes.c_void_p(), ctypes.c_int(-1)
                result = driver.call(
                    "cuGetProcAddress_v2", name.encode(), ctypes.byref(pointer), version, ctypes.c_uint64(flags), ctypes.byref(status)
                )
                found += ("1" if pointer.value else "0") + str(status.value) if result == 0 else "e"
            found += " "
        driver.note(f"looked up {name}", 0, found.strip())
    for table in TABLES:
        pointer = ctypes.c_void_p()
        result = driver.call("cuGetExportTable", ctypes.byref(pointer), bytes.fromhex(table))
        driver.note(f"export table {table[:8]}", result, bool(pointer.value))


def ask_runtime(driver):
    """cudaDeviceProp as the runtime that PyTorch brings makes it, word by word."""
    patterns = [os.path.join(folder, "nvidia", "*", "lib", "libcudart.so.1?*") for folder in sys.path]
    libraries = sorted(path for pattern in patterns for path in glob.glob(pattern))
    if not libraries:
        driver.note("runtime", 0, "none")
        return
    runtime = ctypes.CDLL(libraries[-1])
    driver.note("runtime", 0, os.path.basename(libraries[-1]))
    room = (ctypes.c_uint32 * (PROPERTIES_BYTES // 4))()
    entry = getattr(runtime, "cudaGetDeviceProperties_v2", None) or runtime.cudaGetDeviceProperties
    driver.note("cudaGetDeviceProperties", entry(room, 0), "done")
    # Names and numbers alike; the vendor's layout says which is which.
    for index, word in enumerate(room):
        driver.note(f"cudaDeviceProp byte {4 * index}", 0, f"{word:#x}")
    for attribute in range(1, 160):
        value = ctypes.c_int()
        driver.note(f"cudaDeviceGetAttribute {attribute}", runtime.cudaDeviceGetAttribute(ctypes.byref(value), attribute, 0), value.value)
    runtime.cudaGetLastError()


def main(words):
    """Asks everything; what a part cannot be asked is an answer too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--names", required=True)
    parser.add_argument("--driver", default="libcuda.so.1")
    options = parser.parse_args(words)
    driver = Driver(options.driver)
    driver.need("cuInit", 0)
    parts = {
        "device": ask_device,
        "context": ask_context,
        "memory": ask_memory,
        "kernels": ask_kernels,
        "names": lambda asked: ask_names(asked, options.names),
        "runtime": ask_runtime,
    }
    for name, part in parts.items():
        try:
            part(driver)
            driver.note(f"part {name}", 0, "asked")
        except (RuntimeError, OSError, AttributeError) as failed:
            driver.note(f"part {name}", 0, f"broke off: {failed}")
    print(json.dumps({"answers": driver.answers}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
