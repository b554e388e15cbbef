"""What the driver says of memory: figures, granularities, pools, and every attribute of pointers to each kind of memory."""

import ctypes

POINTER_ATTRIBUTES = range(0, 23)
BYTES = 3 << 20
#: Attributes that are addresses or handles: whether they are the memory's own start or nothing is what can be compared.
ADDRESSES = {3: "device pointer", 4: "host pointer", 11: "start", 19: "mapping"}
HANDLES = {1: "context", 17: "pool"}
#: Counted by the driver: any number will do.
NUMBERS = {7, 20}


class AllocationProperties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = [
        ("type", ctypes.c_int), ("handles", ctypes.c_int), ("location_type", ctypes.c_int), ("location", ctypes.c_int),
        ("metadata", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 16),
    ]  # fmt: skip


def ask_memory(driver):
    """All questions about memory; needs a current context."""
    total, free = ctypes.c_size_t(), ctypes.c_size_t()
    driver.note("memory total", driver.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total)), total.value)
    driver.note("memory free, GiB", 0, free.value >> 30)
    for location in (1, 2, 3):
        for handles in (0, 1, 8):
            properties = AllocationProperties(1, handles, location, 0)
            for option in (0, 1):
                driver.ask(
                    f"granularity at {location} for {handles}, option {option}", "cuMemGetAllocationGranularity",
                    ctypes.byref(properties), option, out=ctypes.c_size_t,
                )  # fmt: skip
    _pools(driver)
    for name, make, end in _kinds(driver):
        address = ctypes.c_uint64()
        result = make(address)
        driver.note(f"{name} memory", result, "made")
        if result == 0:
            _pointer(driver, name, address.value)
            end(address)
    _pointer(driver, "no", 0x1234)


def _pools(driver):
    default, current = ctypes.c_void_p(), ctypes.c_void_p()
    first = driver.call("cuDeviceGetDefaultMemPool", ctypes.byref(default), 0)
    second = driver.call("cuDeviceGetMemPool", ctypes.byref(current), 0)
    driver.note("default pool is the current one", first or second, default.value == current.value)
    if first == 0:
        for attribute in range(0, 12):
            driver.ask(f"pool attribute {attribute}", "cuMemPoolGetAttribute", default, attribute, out=ctypes.c_uint64, place=2)


def _kinds(driver):
    """Name, how to make it (into an address), how to end it."""
    host = ctypes.create_string_buffer(BYTES + 4096)
    start = (ctypes.addressof(host) + 4095) & ~4095

    def register(address):
        address.value = start
        return driver.call("cuMemHostRegister_v2", ctypes.c_void_p(start), BYTES, 0)

    def pitched(address):
        pitch = ctypes.c_size_t()
        result = driver.call("cuMemAllocPitch_v2", ctypes.byref(address), ctypes.byref(pitch), 1000, 100, 16)
        driver.note("pitch of 1000", result, pitch.value)
        return result

    def stream_ordered(address):
        result = driver.call("cuMemAllocAsync", ctypes.byref(address), BYTES, None)
        return result or driver.call("cuStreamSynchronize", None)

    def pinned(flags):
        return lambda address: driver.call("cuMemHostAlloc", ctypes.byref(address), BYTES, flags)

    def free(address):
        driver.call("cuMemFree_v2", address)

    def free_host(address):
        driver.call("cuMemFreeHost", ctypes.c_void_p(address.value))

    return (
        ("device", lambda address: driver.call("cuMemAlloc_v2", ctypes.byref(address), BYTES), free),
        ("pitched", pitched, free),
        ("stream-ordered", stream_ordered, lambda address: driver.call("cuMemFreeAsync", address, None)),
        ("managed", lambda address: driver.call("cuMemAllocManaged", ctypes.byref(address), BYTES, 1), free),
        ("pinned", pinned(0), free_host),
        ("pinned, portable and mapped", pinned(3), free_host),
        ("pinned, write-combined", pinned(4), free_host),
        ("registered", register, lambda address: driver.call("cuMemHostUnregister", ctypes.c_void_p(address.value))),
    )


def _pointer(driver, kind, address):
    for offset in (0, 4096):
        at = address + offset
        for attribute in POINTER_ATTRIBUTES:
            room = ctypes.c_uint64()
            result = driver.call("cuPointerGetAttribute", ctypes.byref(room), attribute, ctypes.c_uint64(at))
            driver.note(f"{kind} pointer +{offset} attribute {attribute}", result, _told(attribute, room.value, address))
    base, size = ctypes.c_uint64(), ctypes.c_size_t()
    result = driver.call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), ctypes.c_uint64(address + 4096))
    driver.note(f"{kind} address range", result, _relative(base.value, address), size.value)
    driver.ask(f"{kind} host flags", "cuMemHostGetFlags", ctypes.c_void_p(address), out=ctypes.c_uint)
    mapped = ctypes.c_uint64()
    result = driver.call("cuMemHostGetDevicePointer_v2", ctypes.byref(mapped), ctypes.c_void_p(address), 0)
    driver.note(f"{kind} device pointer of host", result, _relative(mapped.value, address))


def _told(attribute, value, address):
    if attribute in ADDRESSES:
        return _relative(value, address)
    if attribute in HANDLES:
        return "some" if value else "none"
    return "a number" if attribute in NUMBERS else value


def _relative(value, address):
    return f"start{value - address:+d}" if value else "none"
