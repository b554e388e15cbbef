/* Contexts: their life, and the calling thread's stack of current ones. */
#include <stdlib.h>

#include "streams/capture.h"
#include "driver.h"
#include "entry.h"
#include "memory/memory.h"
#include "script/script.h"
#include "script/witness.h"

enum { STACK_DEPTH = 64 };
static _Thread_local struct context *stack[STACK_DEPTH];
static _Thread_local int depth;

static struct context *contexts;

struct context *context_top(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

bool context_valid(const struct context *c)
{
    return handle_is(HANDLE_CONTEXT, c) && c->active;
}

CUresult context_current(struct context **context)
{
    struct context *c = context_top();
    if (!c)
        return ERROR_INVALID_CONTEXT;
    if (!context_valid(c))
        return ERROR_CONTEXT_IS_DESTROYED;
    *context = c;
    return c->sticky;
}

struct context *context_first(int device)
{
    struct context *c = contexts;
    while (c && c->device != device)
        c = c->next;
    return c;
}

struct context *context_next(struct context *context)
{
    struct context *c = context->next;
    while (c && c->device != context->device)
        c = c->next;
    return c;
}

void context_fault(struct context *context, CUresult error)
{
    if (!context->sticky)
        context->sticky = error;
    driver_changed();
}

static struct context *context_new(int device, bool primary)
{
    struct context *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->device = device;
    c->primary = primary;
    c->id = ++driver_ids;
    c->api_version = 3020;
    c->limits[0] = 1024;    /* stack of a GPU thread */
    c->limits[1] = 1 << 20; /* printf buffer */
    c->limits[2] = 8 << 20; /* heap of kernels */
    c->limits[5] = 64;      /* L2 fetch granularity */
    handle_add(HANDLE_CONTEXT, c);
    c->next = contexts;
    contexts = c;
    return c;
}

static CUresult activate(struct context *c)
{
    if (!witness_take(c->device, script.context_bytes, devices[c->device].total_bytes))
        return ERROR_OUT_OF_MEMORY;
    c->active = true;
    c->sticky = OK;
    CUresult error = stream_create(c, true, 0, &c->legacy);
    if (!error)
        c->legacy->legacy = true;
    if (!error)
        c->legacy->blocking = false;
    return error;
}

struct context *context_primary(int device)
{
    if (!devices[device].primary)
        devices[device].primary = context_new(device, true);
    return devices[device].primary;
}

CUresult context_wait(struct context *c)
{
    uint64_t sequence = c->sequence;
    for (;;) {
        bool pending = false;
        for (const struct stream *s = c->streams; s; s = s->next)
            pending = pending || (s->head && s->head->sequence <= sequence);
        if (!pending)
            return c->sticky;
        driver_wait(0);
    }
}

/* Waits for its work and frees what it owns. A primary context's handle stays valid for the next retain. */
static void deactivate(struct context *c)
{
    c->active = false;
    stream_end_all(c);
    memory_context_gone(c);
    witness_give(c->device, script.context_bytes + c->code_bytes);
    c->code_bytes = 0;
}

static CUresult destroy(struct context *c)
{
    if (!context_valid(c))
        return handle_is(HANDLE_CONTEXT, c) ? ERROR_CONTEXT_IS_DESTROYED : ERROR_INVALID_CONTEXT;
    if (c->primary)
        return ERROR_INVALID_CONTEXT;
    handle_drop(HANDLE_CONTEXT, c);
    deactivate(c);
    if (context_top() == c)
        depth--;
    struct context **p = &contexts;
    while (*p != c)
        p = &(*p)->next;
    *p = c->next; /* the structure stays: threads may still have it on their stack */
    return OK;
}

static CUresult push(struct context *c)
{
    if (depth == STACK_DEPTH)
        return ERROR_OUT_OF_MEMORY;
    stack[depth++] = c;
    return OK;
}

static CUresult create(struct context **out, unsigned flags, CUdevice device)
{
    if (!out)
        return ERROR_INVALID_VALUE;
    LOCKED;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    CUresult error = capture_unsafe();
    if (error)
        return error;
    struct context *c = context_new(device, false);
    if (!c)
        return ERROR_OUT_OF_MEMORY;
    c->flags = flags;
    error = activate(c);
    if (error) {
        handle_drop(HANDLE_CONTEXT, c);
        contexts = c->next;
        free(c);
        return error;
    }
    error = push(c);
    if (!error)
        *out = c;
    return error;
}

EXPORT CUresult cuCtxCreate_v2(struct context **out, unsigned flags, CUdevice device)
{
    ENTER(cuCtxCreate_v2);
    return create(out, flags, device);
}

EXPORT CUresult cuCtxCreate_v3(struct context **out, const void *affinity, int count, unsigned flags, CUdevice device)
{
    ENTER(cuCtxCreate_v3);
    return affinity || count ? ERROR_NOT_SUPPORTED : create(out, flags, device);
}

EXPORT CUresult cuCtxCreate_v4(struct context **out, const void *parameters, unsigned flags, CUdevice device)
{
    ENTER(cuCtxCreate_v4);
    return parameters ? ERROR_NOT_SUPPORTED : create(out, flags, device);
}

EXPORT CUresult cuCtxDestroy_v2(struct context *c)
{
    ENTER(cuCtxDestroy_v2);
    LOCKED;
    return destroy(c);
}

EXPORT CUresult cuCtxDestroy(struct context *c)
{
    ENTER(cuCtxDestroy);
    LOCKED;
    return destroy(c);
}

static CUresult push_current(struct context *c)
{
    LOCKED;
    return context_valid(c) ? push(c) : ERROR_INVALID_CONTEXT;
}

static CUresult pop_current(struct context **out)
{
    if (depth == 0)
        return ERROR_INVALID_CONTEXT;
    struct context *c = stack[--depth];
    if (out)
        *out = c;
    return OK;
}

EXPORT CUresult cuCtxPushCurrent_v2(struct context *c)
{
    ENTER(cuCtxPushCurrent_v2);
    return push_current(c);
}

EXPORT CUresult cuCtxPushCurrent(struct context *c)
{
    ENTER(cuCtxPushCurrent);
    return push_current(c);
}

EXPORT CUresult cuCtxPopCurrent_v2(struct context **out)
{
    ENTER(cuCtxPopCurrent_v2);
    return pop_current(out);
}

EXPORT CUresult cuCtxPopCurrent(struct context **out)
{
    ENTER(cuCtxPopCurrent);
    return pop_current(out);
}

EXPORT CUresult cuCtxSetCurrent(struct context *c)
{
    ENTER(cuCtxSetCurrent);
    LOCKED;
    if (!c) {
        depth -= depth > 0;
        return OK;
    }
    if (!handle_is(HANDLE_CONTEXT, c))
        return ERROR_INVALID_CONTEXT;
    if (depth == 0)
        return push(c);
    stack[depth - 1] = c;
    return OK;
}

EXPORT CUresult cuCtxGetCurrent(struct context **out)
{
    ENTER(cuCtxGetCurrent);
    if (!out)
        return ERROR_INVALID_VALUE;
    *out = context_top();
    return OK;
}

static CUresult device_of(struct context *c, CUdevice *out)
{
    LOCKED;
    CUresult error = c ? OK : context_current(&c);
    if (!error && !context_valid(c))
        error = ERROR_INVALID_CONTEXT;
    if (!error)
        *out = c->device;
    return error;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *out)
{
    ENTER(cuCtxGetDevice);
    return device_of(NULL, out);
}

EXPORT CUresult cuCtxGetDevice_v2(CUdevice *out, struct context *c)
{
    ENTER(cuCtxGetDevice_v2);
    return device_of(c, out);
}

static CUresult synchronise(struct context *c)
{
    LOCKED;
    CUresult error = c ? OK : context_current(&c);
    if (!error && !context_valid(c))
        error = ERROR_INVALID_CONTEXT;
    if (!error)
        error = capture_synchronised(c);
    return error ? error : context_wait(c);
}

EXPORT CUresult cuCtxSynchronize(void)
{
    ENTER(cuCtxSynchronize);
    return synchronise(NULL);
}

EXPORT CUresult cuCtxSynchronize_v2(struct context *c)
{
    ENTER(cuCtxSynchronize_v2);
    return synchronise(c);
}

EXPORT CUresult cuDevicePrimaryCtxRetain(struct context **out, CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRetain);
    LOCKED;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    struct context *c = context_primary(device);
    CUresult error = c ? OK : ERROR_OUT_OF_MEMORY;
    if (!error && !c->active)
        error = activate(c);
    if (error)
        return error;
    c->flags = devices[device].primary_flags;
    c->references++;
    *out = c;
    return OK;
}

static CUresult primary_release(CUdevice device)
{
    LOCKED;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    struct context *c = devices[device].primary;
    if (!c || c->references == 0)
        return ERROR_INVALID_CONTEXT;
    if (--c->references == 0)
        deactivate(c);
    return OK;
}

static CUresult primary_reset(CUdevice device)
{
    LOCKED;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    struct context *c = devices[device].primary;
    if (!c || !c->active)
        return OK;
    deactivate(c);
    return c->references ? activate(c) : OK;
}

static CUresult primary_flags(CUdevice device, unsigned flags)
{
    LOCKED;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    devices[device].primary_flags = flags;
    return OK;
}

EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRelease);
    return primary_release(device);
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    ENTER(cuDevicePrimaryCtxRelease_v2);
    return primary_release(device);
}

EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    ENTER(cuDevicePrimaryCtxReset);
    return primary_reset(device);
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    ENTER(cuDevicePrimaryCtxReset_v2);
    return primary_reset(device);
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    ENTER(cuDevicePrimaryCtxSetFlags);
    return primary_flags(device, flags);
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags)
{
    ENTER(cuDevicePrimaryCtxSetFlags_v2);
    return primary_flags(device, flags);
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    ENTER(cuDevicePrimaryCtxGetState);
    LOCKED;
    if (!device_valid(device))
        return ERROR_INVALID_DEVICE;
    *flags = devices[device].primary_flags;
    *active = devices[device].primary && devices[device].primary->active;
    return OK;
}
