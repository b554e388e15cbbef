#include "entry.h"

#include <pthread.h>
#include <unistd.h>

#include "contexts/checkpoint.h"
#include "script/clock.h"
#include "driver.h"
#include "script/script.h"
#include "streams/stream.h"
#include "script/witness.h"

static pthread_once_t prepared = PTHREAD_ONCE_INIT;
static uint64_t calls[ENTRY_COUNT];
static bool forked;        /* the parent had initialised the driver: of no use in this process */
static bool deinitialised; /* the process is ending */

static void in_child(void)
{
    forked = forked || driver_initialised;
    driver_forked();
    witness_forked();
}

static void prepare(void)
{
    script_read();
    witness_open();
    pthread_atfork(NULL, NULL, in_child);
}

void entry_prepare(void)
{
    pthread_once(&prepared, prepare);
}

__attribute__((destructor)) static void end(void)
{
    __atomic_store_n(&deinitialised, true, __ATOMIC_RELAXED); /* threads may still call */
}

static CUresult admit(unsigned entry, bool before_init, uint64_t *call)
{
    entry_prepare();
    *call = __atomic_add_fetch(&calls[entry], 1, __ATOMIC_RELAXED);
    witness_count(entry);
    checkpoint_wait();
    if (__atomic_load_n(&deinitialised, __ATOMIC_RELAXED))
        return ERROR_DEINITIALIZED;
    if (driver_in_callback)
        return ERROR_NOT_PERMITTED;
    if (forked || (!before_init && !__atomic_load_n(&driver_initialised, __ATOMIC_ACQUIRE)))
        return ERROR_NOT_INITIALIZED;
    return OK;
}

struct call call_enter(unsigned entry, bool before_init)
{
    struct call call = {OK, -1, 0};
    uint64_t n;
    call.refused = admit(entry, before_init, &n);
    if (call.refused == OK)
        call.refused = script_apply(entry, n);
    return call;
}

struct call call_stream(unsigned entry, void *handle, uintptr_t otherwise, bool submission, struct stream **target)
{
    struct call call = {OK, -1, 0};
    uint64_t n;
    call.refused = admit(entry, false, &n);
    if (call.refused != OK)
        return call;
    {
        LOCKED;
        call.refused = stream_resolve(handle, otherwise, target);
        if (call.refused == OK && submission && !(*target)->capture)
            call.device = (*target)->context->device;
    }
    if (call.refused != OK)
        return call;
    if (call.device >= 0) {
        call.begin_ns = monotonic_ns();
        witness_busy(call.device, 1);
        witness_submitted(call.device);
    }
    call.refused = script_apply(entry, n);
    if (call.refused != OK)
        call_leave(&call);
    return call;
}

/* Also the cleanup handler: of a refused call it runs twice, the second time with nothing left to do. */
void call_leave(struct call *call)
{
    if (call->device < 0)
        return;
    witness_interval(call->device, WITNESS_INSIDE, call->begin_ns, monotonic_ns());
    witness_idle(call->device, 1);
    call->device = -1;
}

CUresult call_unsupported(unsigned entry)
{
    struct call call = call_enter(entry, true);
    return call.refused ? call.refused : ERROR_NOT_SUPPORTED;
}
