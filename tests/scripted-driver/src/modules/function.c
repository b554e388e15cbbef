#include "modules/function.h"

#include <string.h>

#include "modules/content_kernel.h"
#include "memory/memory.h"
#include "script/script.h"
#include "streams/stream.h"
#include "script/witness.h"

/* Sizes of the parameters; each lies at its natural alignment. 0 ends the list. */
static const size_t layouts[][5] = {
    [OPERATION_NONE] = {0},         [OPERATION_SLEEP] = {8},      /* microseconds */
    [OPERATION_FILL] = {8, 4, 8},                                 /* pointer, 32-bit value, count */
    [OPERATION_ADD] = {8, 8, 8, 8},                               /* a + b into c, n floats */
    [OPERATION_FAULT] = {0},        [OPERATION_CONTENT] = {8, 8}, /* addresses of parts, results */
};

bool function_parameter(const struct function *f, size_t index, size_t *offset, size_t *bytes)
{
    const size_t *sizes = layouts[f->operation];
    size_t at = 0;
    for (size_t i = 0; i < 5 && sizes[i]; i++) {
        at = (at + sizes[i] - 1) / sizes[i] * sizes[i];
        if (i == index) {
            *offset = at;
            *bytes = sizes[i];
            return true;
        }
        at += sizes[i];
    }
    return false;
}

struct function *function_of(void *handle)
{
    return handle_is(HANDLE_FUNCTION, handle) || handle_is(HANDLE_KERNEL, handle) ? handle : NULL;
}

/* The "extra" form of parameters: pairs of a key and a value, ended by key 0. */
static const unsigned char *packed(void **extra, size_t *bytes)
{
    const unsigned char *buffer = NULL;
    *bytes = 0;
    for (; extra[0]; extra += 2) {
        if (extra[0] == (void *)1)
            buffer = extra[1];
        else if (extra[0] == (void *)2)
            *bytes = *(size_t *)extra[1];
        else
            return NULL;
    }
    return buffer;
}

/* Code is loaded onto the device at its first launch, as with CUDA_MODULE_LOADING=LAZY, and stays there. */
static CUresult load(struct function *f)
{
    struct context *c;
    CUresult error = f->loaded || !script.code_bytes ? OK : context_current(&c);
    if (error || f->loaded || !script.code_bytes)
        return error;
    if (!witness_take(c->device, script.code_bytes, devices[c->device].total_bytes))
        return ERROR_OUT_OF_MEMORY;
    f->loaded = true;
    c->code_bytes += script.code_bytes;
    return OK;
}

static CUresult content_globals(struct module *m, CUdeviceptr globals[2])
{
    CUresult error = module_global(m, CONTENT_WORDS, &globals[0], NULL);
    return error ? error : module_global(m, CONTENT_NUMBERS, &globals[1], NULL);
}

CUresult function_work(void *handle, unsigned blocks, void **parameters, void **extra, struct work **work)
{
    struct function *f = function_of(handle);
    if (!f)
        return ERROR_INVALID_HANDLE;
    size_t offset = 0, bytes = 0, total = 0;
    for (size_t i = 0; function_parameter(f, i, &offset, &bytes); i++)
        total = offset + bytes;
    size_t given = 0;
    const unsigned char *buffer = extra ? packed(extra, &given) : NULL;
    if (total && !parameters && (!buffer || given < total))
        return ERROR_INVALID_VALUE;
    CUdeviceptr globals[2] = {0};
    CUresult error = load(f);
    if (!error && f->operation == OPERATION_CONTENT)
        error = content_globals(f->module, globals);
    if (error)
        return error;
    struct work *w = work_new(WORK_KERNEL);
    w->as.kernel.function = f;
    w->as.kernel.blocks = blocks;
    unsigned char *block = w->as.kernel.parameters;
    if (total && buffer && !parameters)
        memcpy(block, buffer, total);
    for (size_t i = 0; parameters && function_parameter(f, i, &offset, &bytes); i++)
        memcpy(block + offset, parameters[i], bytes);
    memcpy(w->as.kernel.globals, globals, sizeof globals);
    w->duration_ns = script_kernel_ns(f->name);
    if (f->operation == OPERATION_SLEEP) {
        uint64_t us;
        memcpy(&us, block, sizeof us);
        w->duration_ns = us * 1000;
    }
    *work = w;
    return OK;
}

/* A kernel reaches the registered part of the host's memory, to its end. */
static bool reachable(CUdeviceptr pointer, size_t bytes)
{
    LOCKED;
    bool host;
    if (!memory_there(pointer, bytes, &host))
        return false;
    const struct allocation *a = host ? allocation_of(pointer) : NULL;
    return !host || (a && bytes <= a->base + a->bytes - pointer);
}

static CUresult run_fill(const unsigned char *parameters)
{
    struct {
        CUdeviceptr pointer;
        uint32_t value;
        uint64_t count;
    } p;
    memcpy(&p, parameters, sizeof p);
    if (p.count > SIZE_MAX / 4 || !reachable(p.pointer, p.count * 4))
        return ERROR_ILLEGAL_ADDRESS;
    uint32_t *to = (uint32_t *)(uintptr_t)p.pointer;
    for (uint64_t i = 0; i < p.count; i++)
        to[i] = p.value;
    return OK;
}

static CUresult run_add(const unsigned char *parameters)
{
    struct {
        CUdeviceptr a, b, c;
        uint64_t count;
    } p;
    memcpy(&p, parameters, sizeof p);
    size_t bytes = p.count * sizeof(float);
    if (p.count > SIZE_MAX / 4 || !reachable(p.a, bytes) || !reachable(p.b, bytes) || !reachable(p.c, bytes))
        return ERROR_ILLEGAL_ADDRESS;
    const float *a = (const float *)(uintptr_t)p.a, *b = (const float *)(uintptr_t)p.b;
    float *c = (float *)(uintptr_t)p.c;
    for (uint64_t i = 0; i < p.count; i++)
        c[i] = a[i] + b[i];
    return OK;
}

static CUresult run_content(unsigned blocks, const CUdeviceptr globals[2], const unsigned char *parameters)
{
    struct {
        CUdeviceptr parts, results;
    } p;
    memcpy(&p, parameters, sizeof p);
    if (!reachable(globals[0], CONTENT_WORDS_BYTES) || !reachable(globals[1], CONTENT_NUMBERS_BYTES) ||
        !reachable(p.parts, blocks * sizeof(CUdeviceptr)) ||
        !reachable(p.results, blocks * sizeof(uint64_t[CONTENT_RESULTS])))
        return ERROR_ILLEGAL_ADDRESS;
    const CUdeviceptr *parts = (const CUdeviceptr *)(uintptr_t)p.parts;
    uint64_t *results = (uint64_t *)(uintptr_t)p.results;
    for (unsigned i = 0; i < blocks; i++) {
        if (parts[i] && !reachable(parts[i], CONTENT_PART_BYTES))
            return ERROR_ILLEGAL_ADDRESS;
        if (parts[i])
            content_look((const uint32_t *)(uintptr_t)globals[0], (const uint64_t *)(uintptr_t)globals[1],
                         (const uint32_t *)(uintptr_t)parts[i], results + (size_t)i * CONTENT_RESULTS);
    }
    return OK;
}

CUresult function_execute(const struct work *w)
{
    const unsigned char *parameters = w->as.kernel.parameters;
    switch (w->as.kernel.function->operation) {
    case OPERATION_FILL:
        return run_fill(parameters);
    case OPERATION_ADD:
        return run_add(parameters);
    case OPERATION_FAULT:
        return ERROR_ILLEGAL_ADDRESS;
    case OPERATION_CONTENT:
        return run_content(w->as.kernel.blocks, w->as.kernel.globals, parameters);
    default:
        return OK;
    }
}
