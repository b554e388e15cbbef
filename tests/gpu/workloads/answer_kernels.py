"""Kernels of our own that are asked about: text, so that no compiler is needed; and what is asked of each."""

import ctypes

HEAD = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .align 4 .b8 table[1234];\n.const .align 4 .b8 constants[96];\n"
#: A body that needs many registers and some local memory.
WIDE = "".join(f"  ld.volatile.global.f32 %f{i}, [%rd1+{4 * i}];\n" for i in range(96))
WIDE += "".join(f"  st.volatile.global.f32 [%rd1+{4 * i}], %f{95 - i};\n" for i in range(96))
STATIC = (
    "  .shared .align 4 .b8 room[6144];\n  mov.u32 %r1, %tid.x;\n  mov.u32 %r2, room;\n  st.shared.u32 [%r2], %r1;\n  bar.sync 0;\n"
    "  ld.shared.u32 %r1, [%r2];\n  st.global.u32 [%rd1], %r1;\n"
)
DYNAMIC = "  mov.u32 %r1, dynamic;\n  ld.shared.u32 %r2, [%r1+16];\n  st.global.u32 [%rd1], %r2;\n"
LOCAL = (
    "  .local .align 8 .b8 own[512];\n  mov.u32 %r1, %tid.x;\n  and.b32 %r1, %r1, 127;\n  mul.wide.u32 %rd2, %r1, 4;\n  mov.u64 %rd3, own;\n"
    "  add.u64 %rd3, %rd3, %rd2;\n  st.local.u32 [%rd3], %r1;\n  ld.local.u32 %r2, [%rd3];\n  st.global.u32 [%rd1], %r2;\n"
)


def _kernel(name, body, directives="", parameters=".param .u64 p"):
    registers = "  .reg .b64 %rd<8>;\n  .reg .b32 %r<8>;\n  .reg .f32 %f<96>;\n"
    start = "  ld.param.u64 %rd1, [p];\n  cvta.to.global.u64 %rd1, %rd1;\n"
    return f".visible .entry {name}({parameters})\n{directives}{{\n{registers}{start}{body}  ret;\n}}\n"


#: Three parameters whose offsets have holes, and a structure.
MIXED = ".param .u64 p, .param .u8 byte, .param .align 16 .b8 structure[48], .param .u16 half"
PLAIN = HEAD + ".extern .shared .align 16 .b8 dynamic[];\n" + "".join(
    (
        _kernel("plain", "  st.global.u64 [%rd1], %rd1;\n"),
        _kernel("wide", WIDE),
        _kernel("bounded", WIDE, ".maxntid 1024, 1, 1\n.minnctapersm 2\n"),
        _kernel("exact", WIDE, ".reqntid 96, 1, 1\n"),
        _kernel("shared", STATIC),
        _kernel("dynamic_shared", DYNAMIC),
        _kernel("local", LOCAL),
        _kernel("parameters", "  st.global.u64 [%rd1], %rd1;\n", "", MIXED),
    )
)
CLUSTERS = ".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(
    (
        _kernel("cluster", "  st.global.u64 [%rd1], %rd1;\n", ".explicitcluster\n.reqnctapercluster 2, 1, 1\n"),
        _kernel("free_cluster", STATIC),
    )
)
MODULES = {PLAIN: ("plain", "wide", "bounded", "exact", "shared", "dynamic_shared", "local", "parameters"), CLUSTERS: ("cluster", "free_cluster")}
GLOBALS = ("table", "constants", "absent")

FUNCTION_ATTRIBUTES = range(0, 18)
BLOCKS = (1, 32, 33, 96, 128, 256, 512, 768, 1024, 1025)
SHARED = (0, 1024, 16384, 49152, 52224, 101376, 166912, 232448, 300000)
MAX_DYNAMIC, CARVEOUT = 8, 9
#: The export table whose eighth entry calls back for each kernel of a module (native-preload/src/relay/entry/module_functions.c).
MODULE_TABLE = bytes.fromhex("6e163fbeb958444d835ce182aff1991e")
EACH_FUNCTION = 7
VISITOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t)


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute."""

    _fields_ = [("id", ctypes.c_uint32), ("pad", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16)]


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        ("grid", ctypes.c_uint32 * 3), ("block", ctypes.c_uint32 * 3), ("shared_bytes", ctypes.c_uint32), ("pad", ctypes.c_uint32),
        ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint32), ("pad2", ctypes.c_uint32),
    ]  # fmt: skip


def ask_kernels(driver):
    """All questions about our kernels, as functions of modules and as kernels of libraries."""
    for text, names in MODULES.items():
        image = ctypes.create_string_buffer(text.encode())
        _as_functions(driver, image, names)
        _as_kernels(driver, image, names)


def _as_functions(driver, image, names):
    module = ctypes.c_void_p()
    result = driver.call("cuModuleLoadData", ctypes.byref(module), image)
    driver.note(f"module of {names[0]}", result, "loaded")
    if result != 0:
        return
    driver.ask(f"module of {names[0]} functions", "cuModuleGetFunctionCount", module)
    _order(driver, module, names)
    for name in GLOBALS:
        address, size = ctypes.c_uint64(), ctypes.c_size_t()
        result = driver.call("cuModuleGetGlobal_v2", ctypes.byref(address), ctypes.byref(size), module, name.encode())
        driver.note(f"module of {names[0]} variable {name} bytes", result, size.value)
    for name in names:
        function = ctypes.c_void_p()
        driver.need("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        # A driver that loads lazily must have loaded it before it is asked.
        driver.note(f"function {name} loading", driver.call("cuFuncLoad", function), "done")
        _one(driver, f"function {name}", function, "cuFuncGetAttribute", (function,), "cuFuncGetParamInfo")
        for attribute, value in ((MAX_DYNAMIC, 52224), (CARVEOUT, 100), (MAX_DYNAMIC, 400000), (CARVEOUT, 101), (0, 1)):
            result = driver.call("cuFuncSetAttribute", function, attribute, value)
            driver.note(f"function {name} attribute {attribute} set to {value}", result, "done")
        _one(driver, f"function {name} with more shared memory", function, "cuFuncGetAttribute", (function,), None)
        for config in range(-1, 5):
            driver.note(f"function {name} cache config {config}", driver.call("cuFuncSetCacheConfig", function, config), "done")
    driver.call("cuModuleUnload", module)


def _order(driver, module, names):
    """In which order a module's kernels are listed, by the public call and by the export table that cuFFT asks."""
    functions = (ctypes.c_void_p * len(names))()
    result = driver.call("cuModuleEnumerateFunctions", functions, len(names), module)
    listed = []
    for function in functions if result == 0 else ():
        name = ctypes.c_char_p()
        driver.call("cuFuncGetName", ctypes.byref(name), ctypes.c_void_p(function))
        listed.append((name.value or b"?").decode())
    driver.note(f"module of {names[0]} in order", result, *listed)
    table, context, visited = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_void_p(), []
    driver.need("cuCtxGetCurrent", ctypes.byref(context))
    result = driver.call("cuGetExportTable", ctypes.byref(table), MODULE_TABLE)
    if result == 0:
        visit = VISITOR(lambda _with, _function, name, _zero, _also: visited.append((name or b"?").decode()))
        each = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, VISITOR, ctypes.c_void_p)(table[EACH_FUNCTION])
        each(context, module, visit, None)
    driver.note(f"module of {names[0]} in the table's order", result, *visited)


def _as_kernels(driver, image, names):
    library = ctypes.c_void_p()
    result = driver.call("cuLibraryLoadData", ctypes.byref(library), image, None, None, 0, None, None, 0)
    driver.note(f"library of {names[0]}", result, "loaded")
    if result != 0:
        return
    driver.ask(f"library of {names[0]} kernels", "cuLibraryGetKernelCount", library)
    for name in names:
        kernel = ctypes.c_void_p()
        driver.need("cuLibraryGetKernel", ctypes.byref(kernel), library, name.encode())
        for attribute in FUNCTION_ATTRIBUTES:
            driver.ask(f"kernel {name} attribute {attribute}", "cuKernelGetAttribute", attribute, kernel, 0)
        _parameters(driver, f"kernel {name}", kernel, "cuKernelGetParamInfo")
        for attribute, value in ((MAX_DYNAMIC, 52224), (CARVEOUT, 100), (MAX_DYNAMIC, 400000)):
            result = driver.call("cuKernelSetAttribute", attribute, value, kernel, 0)
            driver.note(f"kernel {name} attribute {attribute} set to {value}", result, "done")
        function = ctypes.c_void_p()
        driver.need("cuKernelGetFunction", ctypes.byref(function), kernel)
        # The answers about the kernel must hold for its function.
        for attribute in FUNCTION_ATTRIBUTES:
            driver.ask(f"function of kernel {name} attribute {attribute}", "cuFuncGetAttribute", attribute, function)
        driver.ask(f"kernel {name} blocks", "cuOccupancyMaxActiveBlocksPerMultiprocessor", kernel, 128, 52224)
    driver.call("cuLibraryUnload", library)


def _parameters(driver, question, handle, entry):
    for index in range(5):
        driver.ask(f"{question} parameter {index}", entry, handle, index, out=ctypes.c_size_t, place=2, outs=2)


def _one(driver, question, function, attributes, handle, parameters):
    for attribute in FUNCTION_ATTRIBUTES:
        driver.ask(f"{question} attribute {attribute}", attributes, attribute, *handle)
    if parameters:
        _parameters(driver, question, function, parameters)
        name = ctypes.c_char_p()
        driver.note(f"{question} name", driver.call("cuFuncGetName", ctypes.byref(name), function), name.value)
        driver.ask(f"{question} loaded", "cuFuncIsLoaded", function)
    for block in (0, *BLOCKS):
        for shared in SHARED:
            driver.ask(f"{question} blocks of {block} with {shared}", "cuOccupancyMaxActiveBlocksPerMultiprocessor", function, block, shared)
        for blocks in (1, 2, 4):
            driver.ask(
                f"{question} room for {blocks} of {block}", "cuOccupancyAvailableDynamicSMemPerBlock", function, blocks, block,
                out=ctypes.c_size_t,
            )  # fmt: skip
    driver.ask(f"{question} blocks with flag 1", "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", function, 256, 0, 1)
    for limit in (0, 100, 512):
        driver.ask(f"{question} best block up to {limit}", "cuOccupancyMaxPotentialBlockSize", function, None, 1024, limit, outs=2)
    for size in (0, 1, 2, 4, 8, 16):
        attribute = LaunchAttribute(4, 0, (ctypes.c_uint32 * 16)(size, 1, 1))
        config = LaunchConfig((16, 1, 1), (128, 1, 1), 2048, 0, None, ctypes.pointer(attribute), 1 if size else 0, 0)
        for entry in ("cuOccupancyMaxActiveClusters", "cuOccupancyMaxPotentialClusterSize"):
            driver.ask(f"{question} {entry[11:]} of {size}", entry, function, ctypes.byref(config))
