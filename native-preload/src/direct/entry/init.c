/* cuInit: the library registers with the manager. Before that it has opened nothing and started no thread. */
#include "direct/entry/init.h"

#include <pthread.h>

#include "direct/chunks/backing.h"
#include "direct/chunks/chunks.h"
#include "direct/chunks/exchange.h"
#include "direct/chunks/pinning.h"
#include "direct/chunks/ranges.h"
#include "direct/chunks/block_cache.h"
#include "direct/memory/allocations.h"
#include "direct/memory/prefetch.h"
#include "direct/pools/graph_memory.h"
#include "direct/swap/chunk_copier.h"
#include "direct/swap/moves.h"
#include "direct/turns/residency.h"
#include "direct/turns/device_pause.h"
#include "session/manager_client.h"
#include "direct/turns/checkpoint_stubs.h"
#include "direct/pools/captured_memory.h"
#include "direct/turns/capture.h"
#include "direct/turns/devices.h"
#include "direct/turns/drain.h"
#include "driver/driver.h"
#include "direct/ipc/export.h"
#include "direct/ipc/import.h"
#include "direct/turns/pace.h"
#include "direct/swap/peer_access.h"
#include "direct/pools/pools.h"
#include "session/quota.h"
#include "session/report.h"
#include "session/segment.h"
#include "session/settings.h"
#include "direct/swap/several_devices.h"
#include "tessera_entries.h"
#include "session/threads.h"
#include "direct/turns/turns.h"
#include "session/visible_devices.h"

/* Frees memory that was freed in the order of streams, before memory is counted and moved. */
static void settled(unsigned device, uint64_t moment)
{
    captured_collect();
    pools_quiet(device, moment);
    pools_synchronised();
    graph_memory_drained(device);
}

void direct_prepare(void)
{
    static const struct turn_memory memory = {.moment = pools_moment,
                                              .settled = settled,
                                              .move = moves_step,
                                              .fetch = prefetch_turn,
                                              .poll = graph_memory_poll};
    devices_first(turns_device_opened);
    drain_serves(&memory);
    moves_release_first(pools_release);
}

/* The child has no threads of the library, no connection and no usable context: resets all state. */
static void in_child(void)
{
    segment_forked();
    manager_client_forked();
    threads_forked();
    devices_forked();
    capture_forked();
    pace_forked();
    drain_forked();
    turns_forked();
    quota_forked();
    allocations_forked();
    pools_forked();
    captured_forked();
    peer_access_forked();
    several_devices_forked();
    checkpoint_stubs_forked();
    residency_forked();
    chunks_forked();
    ranges_forked();
    block_cache_forked();
    backing_forked();
    pinning_forked();
    copier_forked();
    moves_forked();
    ipc_export_forked();
    ipc_import_forked();
}

static void watch_forks(void)
{
    if (pthread_atfork(NULL, NULL, in_child) != 0)
        report_error(0, "fork handlers could not be installed: a forked child must not use CUDA before exec");
}

static const struct manager_handlers handlers = {
    .prepare = turns_prepare,
    .freeze = turns_freeze,
    .thaw = turns_thaw,
    .lost = exchange_disconnected,
    .look = checkpoint_stubs_update,
    .open = devices_opened,
    .order = turns_apply,
    .exchange = exchange_adopt,
};

TESSERA_EXPORT CUresult cuInit(unsigned flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    CUresult result = REAL(cuInit)(flags);
    if (result == CUDA_ERROR_NO_DEVICE && !settings()->disabled && driver_handle())
        visible_devices_say_none();
    if (result != CUDA_SUCCESS || settings()->disabled)
        return result;
    pthread_once(&once, watch_forks);
    driver_look_up_all();
    if (!segment_open()) {
        report_line("no memory for the counters: running without turns");
        return result;
    }
    return manager_client_start(&handlers) ? result : CUDA_ERROR_SYSTEM_NOT_READY;
}
