#include "relay/wire/init_state.h"

#include "relay/wire/relay.h"

enum { FRESH, RUNNING, ENDED };
static int state = FRESH;

void init_state_begin(void)
{
    __atomic_store_n(&state, RUNNING, __ATOMIC_RELEASE);
}

bool init_state_forked(void)
{
    bool used = state == RUNNING;
    if (used)
        state = FRESH;
    return used;
}

CUresult relay_started(void)
{
    int now = __atomic_load_n(&state, __ATOMIC_ACQUIRE);
    return now == RUNNING ? CUDA_SUCCESS : now == ENDED ? CUDA_ERROR_DEINITIALIZED : CUDA_ERROR_NOT_INITIALIZED;
}

/* Destructors of the program and of other libraries may still call: they get DEINITIALIZED. */
__attribute__((destructor)) static void end(void)
{
    int running = RUNNING;
    if (__atomic_compare_exchange_n(&state, &running, ENDED, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        relay_current = NULL;
}
