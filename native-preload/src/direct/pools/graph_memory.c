#include "direct/pools/graph_memory.h"

#include <stdbool.h>
#include <stdint.h>

#include "direct/turns/residency.h"
#include "driver/clock.h"
#include "session/quota.h"
#include "session/settings.h"
#include "tessera_entries.h"

#define POLL_NS 1000000000ULL

static bool seen;
static uint64_t polled_ns[TESSERA_MAX_DEVICES];
static uint64_t fixed_bytes[TESSERA_MAX_DEVICES]; /* counted as fixed under plan swap */

void graph_memory_seen(void)
{
    __atomic_store_n(&seen, true, __ATOMIC_RELAXED);
}

static void read_reserved(unsigned device)
{
    uint64_t reserved = 0;
    polled_ns[device] = monotonic_ns();
    if (REAL(cuDeviceGetGraphMemAttribute)((CUdevice)device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved) !=
        CUDA_SUCCESS)
        return;
    quota_graph_memory(device, reserved);
    if (settings()->swap && reserved != fixed_bytes[device]) {
        residency_fixed_changed(device, (int64_t)(reserved - fixed_bytes[device]));
        fixed_bytes[device] = reserved;
    }
}

void graph_memory_poll(unsigned device)
{
    if (__atomic_load_n(&seen, __ATOMIC_RELAXED) && monotonic_ns() - polled_ns[device] >= POLL_NS)
        read_reserved(device);
}

void graph_memory_drained(unsigned device)
{
    if (!__atomic_load_n(&seen, __ATOMIC_RELAXED) || !settings()->swap)
        return;
    REAL(cuDeviceGraphMemTrim)((CUdevice)device);
    read_reserved(device);
}
