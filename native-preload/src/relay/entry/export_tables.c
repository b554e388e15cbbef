/*
 * Export tables: private functions between the driver and NVIDIA's own libraries. Tables about the driver itself are passed
 * on unchanged from the vendor's driver; their contents are never computed or imitated here. Tables about a context are
 * ours, since the vendor's driver has no context.
 */
#include <string.h>

#include "relay/entry/module_functions.h"
#include "relay/wire/relay.h"
#include "relay/entry/profiler.h"
#include "relay_stubs.h"
#include "session/report.h"
#include "relay/entry/context_storage.h"
#include "relay/wire/vendor.h"

static CUresult unknown_function(void)
{
    report_error(CUDA_ERROR_NOT_SUPPORTED, "a function of an export table that the relay does not know");
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define UNKNOWN ((void *)unknown_function)

/* CONTEXT_LOCAL_STORAGE: the one table without a size. */
static void *const context_storage_table[4] = {(void *)context_storage_put, (void *)context_storage_delete,
                                               (void *)context_storage_get, UNKNOWN};

/* CONTEXT_CHECKS. [2]: whether, and by what, calls on the context must be watched; [3]: the same for the process. Never. */
static CUresult context_check(CUcontext context, uint32_t *watched, const void **by)
{
    if (!relay_context_of(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (watched)
        *watched = 0;
    if (by)
        *by = NULL;
    return CUDA_SUCCESS;
}

static uint32_t process_check(void)
{
    return 0;
}

static void *const checks_table[4] = {(void *)sizeof checks_table, UNKNOWN, (void *)context_check,
                                      (void *)process_check};

/*
 * A table for tools; libraries also use it to ask whether a tool watches them. [4]: whether the handle is a context; [39]:
 * a state of the tools; [51]: what they keep of a stream.
 */
static CUresult tools_context(CUcontext context, uint64_t *known)
{
    if (known)
        *known = context && relay_context_of(context) ? 1 : 0;
    return CUDA_SUCCESS;
}

static CUresult tools_state(void *first, void *second, uint64_t *state)
{
    (void)first;
    (void)second;
    if (state)
        *state = 0;
    return CUDA_SUCCESS;
}

static CUresult tools_stream(void *first, CUstream stream, const void **kept)
{
    static const uint64_t nothing[64];
    (void)first;
    (void)stream;
    if (kept)
        *kept = nothing;
    return CUDA_SUCCESS;
}

#define EIGHT UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN
static void *tools_table[64] = {EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT};

/* Another table for tools. [4] (out, out, bytes): there is nothing to report. */
static CUresult tools_query(uint64_t *first, uint64_t *second, size_t bytes)
{
    (void)bytes;
    if (first)
        *first = 0;
    if (second)
        *second = 0;
    return CUDA_SUCCESS;
}

static void *query_table[32] = {EIGHT, EIGHT, EIGHT, EIGHT};

/* The table of modules. cuFFT calls [7]. It has as many words as on driver 580. */
static void *module_table[99] = {EIGHT, EIGHT, EIGHT, EIGHT, EIGHT,   EIGHT,   EIGHT,  EIGHT,
                                 EIGHT, EIGHT, EIGHT, EIGHT, UNKNOWN, UNKNOWN, UNKNOWN};

__attribute__((constructor)) static void fill(void)
{
    tools_table[0] = (void *)sizeof tools_table;
    tools_table[4] = (void *)tools_context;
    tools_table[39] = (void *)tools_state;
    tools_table[51] = (void *)tools_stream;
    query_table[0] = (void *)sizeof query_table;
    query_table[4] = (void *)tools_query;
    module_table[0] = (void *)sizeof module_table;
    module_table[7] = (void *)module_each_function;
}

#define ID(...)                                                                                                        \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

static const struct {
    unsigned char id[16];
    void *const *table;
} ours[] = {
    {ID(0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93),
     context_storage_table},
    {ID(0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e), checks_table},
    {ID(0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2), tools_table},
    {ID(0x17, 0x34, 0xdc, 0x26, 0x80, 0x0d, 0x47, 0x45, 0x87, 0x26, 0xc0, 0xf1, 0xe7, 0xdd, 0x8b, 0xca), query_table},
    {ID(0x6e, 0x16, 0x3f, 0xbe, 0xb9, 0x58, 0x44, 0x4d, 0x83, 0x5c, 0xe1, 0x82, 0xaf, 0xf1, 0x99, 0x1e), module_table},
};

/* CUDART_INTERFACE, INTEGRITY_CHECK, TOOLS_RUNTIME_CALLBACK_HOOKS, TOOLS_TLS, and one that runtimes from 13 on ask for. */
static const unsigned char vendors[][16] = {
    ID(0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9),
    ID(0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2),
    ID(0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66),
    ID(0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc),
    ID(0xf8, 0xcf, 0xf9, 0x51, 0x21, 0x46, 0x8b, 0x4e, 0xb9, 0xe2, 0xfb, 0x46, 0x9e, 0x7c, 0x0d, 0xd9),
};

/* Says it once: a program with a static runtime cannot go on, and its own error does not say why. */
static void say_driver_needed(void)
{
    static int said;
    if (!__atomic_exchange_n(&said, 1, __ATOMIC_ACQ_REL))
        report_line("this program has NVIDIA's CUDA runtime inside (a static libcudart), which works with NVIDIA's "
                    "driver only, and none is installed: install one, or link the program with the "
                    "shared libcudart (nvcc -cudart shared) and run it again");
}

CUresult relay_cuGetExportTable(const void **table, const void *id)
{
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    profiler_asked(__builtin_return_address(0)); /* our exported entry jumps here, so this is the program's */
    for (unsigned i = 0; i < sizeof ours / sizeof *ours; i++) {
        if (memcmp(ours[i].id, id, sizeof ours[i].id) == 0) {
            *table = ours[i].table;
            return CUDA_SUCCESS;
        }
    }
    for (unsigned i = 0; i < sizeof vendors / sizeof *vendors; i++) {
        if (memcmp(vendors[i], id, sizeof vendors[i]) != 0)
            continue;
        const void *theirs = vendor_table(id);
        if (theirs) {
            *table = theirs;
            return CUDA_SUCCESS;
        }
        if (!vendor_present())
            say_driver_needed();
        return CUDA_ERROR_NOT_FOUND;
    }
    const unsigned char *bytes = id;
    report_error(CUDA_ERROR_NOT_FOUND, "export table %02x%02x%02x%02x is not served in space sharing", bytes[0],
                 bytes[1], bytes[2], bytes[3]);
    return CUDA_ERROR_NOT_FOUND;
}
