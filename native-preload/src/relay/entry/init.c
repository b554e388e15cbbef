/* cuInit on the relay port: finds the executors, puts the devices in the program's order, and opens the links. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "relay/code/functions.h"
#include "relay/code/modules.h"
#include "relay/code/names.h"
#include "relay/entry/pinned_small.h"
#include "relay/entry/profiler.h"
#include "relay/entry/init.h"
#include "relay/entry/context_storage.h"
#include "relay/entry/device_order.h"
#include "relay/executor/executor_connect.h"
#include "relay/memory/range.h"
#include "relay/memory/staging.h"
#include "relay/streams/events.h"
#include "relay/streams/stream_table.h"
#include "relay/wire/context.h"
#include "relay/wire/link.h"
#include "relay/wire/init_state.h"
#include "relay/wire/vendor.h"
#include "session/connection.h"
#include "session/manager_client.h"
#include "session/report.h"
#include "session/settings.h"
#include "session/visible_devices.h"

static bool forked; /* from a program that used CUDA */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The child of a program that used CUDA must not use it, as with the driver; it cannot reach the parent's ring. */
static void in_child(void)
{
    bool used = init_state_forked();
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    segment_forked();
    manager_client_forked();
    threads_forked();
    if (!used)
        return;
    relay_current = NULL;
    link_forked();
    context_forked();
    context_storage_forked();
    range_forked();
    pinned_small_forked();
    staging_forked();
    forked = true;
}

void init_connect(void)
{
    static const context_ending endings[] = {
        context_storage_context_ended,
        relay_streams_context_ended,
        events_context_ended,
        relay_modules_context_ended,
        relay_range_context_ended,
        pinned_small_context_ended,
        NULL,
    };
    context_on_end(endings);
    streams_on_end(events_stream_gone);
    names_on_forget(functions_forget);
}

/* What `tessera status` shows of the device. */
static void describe(unsigned device, const struct tessera_relay_device *known)
{
    segment_change_begin();
    struct tessera_device *slot = &segment_get()->devices[device];
    memcpy(slot->uuid, known->uuid, sizeof slot->uuid);
    slot->total_bytes = known->total_bytes;
    slot->ordinal = device;
    snprintf(slot->name, sizeof slot->name, "%.*s", (int)sizeof slot->name - 1, known->name);
    segment_change_end();
}

static bool open_links(char *reason, size_t size)
{
    static struct executor_connection connections[TESSERA_MAX_DEVICES];
    unsigned order[TESSERA_MAX_DEVICES];
    unsigned met = executor_connect(connections, reason, size);
    if (met == 0)
        return false;
    unsigned count = device_order(connections, met, order, reason, size);
    bool kept[TESSERA_MAX_DEVICES] = {false};
    for (unsigned i = 0; i < count; i++) {
        struct executor_connection *connection = &connections[order[i]];
        kept[order[i]] = true;
        link_open(i, connection->answer.head.device, connection->segment, connection->socket);
        describe(i, &connection->segment->device);
    }
    for (unsigned i = 0; i < met; i++)
        if (!kept[i])
            executor_disconnect(&connections[i]);
    if (count == 0)
        return false;
    if (!link_watch(count)) {
        snprintf(reason, size, "no thread to watch the executors");
        return false;
    }
    for (unsigned i = 0; i < count; i++) {
        bool software = relay_links[i].segment->device.software != 0;
        context_prepare_primary(&relay_links[i], software ? NULL : vendor_primary((int)i));
    }
    return true;
}

/* The relay has no gate and no memory of its own: the manager only names executors. */
static const struct manager_handlers handlers = {.relay_answer = executor_connect_answered};

static CUresult start(void)
{
    static bool watching_forks;
    char reason[400] = "";
    if (forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!watching_forks && pthread_atfork(NULL, NULL, in_child) != 0)
        report_error(0, "fork handlers could not be installed: a forked child must not use CUDA before exec");
    watching_forks = true;
    vendor_start();
    init_connect();
    if (!segment_open() || !manager_client_start(&handlers))
        return CUDA_ERROR_SYSTEM_NOT_READY;
    if (!open_links(reason, sizeof reason)) {
        if (!reason[0]) {
            visible_devices_say_none();
            return CUDA_ERROR_NO_DEVICE;
        }
        report_error(CUDA_ERROR_SYSTEM_NOT_READY, "%s", reason);
        if (connection_refused(reason)) /* time sharing would be refused, too */
            report_line("%s: CUDA is refused", reason);
        else
            report_line("%s: %s CUDA is refused; run the program with --share time", reason,
                        settings()->chosen ? "the manager chose space sharing, where" : "with --share space");
        return CUDA_ERROR_SYSTEM_NOT_READY;
    }
    profiler_look();
    init_state_begin();
    return CUDA_SUCCESS;
}

CUresult relay_cuInit(unsigned flags)
{
    static CUresult failed;
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult started = relay_started();
    if (started != CUDA_ERROR_NOT_INITIALIZED)
        return started;
    pthread_mutex_lock(&lock);
    CUresult result = relay_started();
    if (result == CUDA_ERROR_NOT_INITIALIZED)
        result = failed != CUDA_SUCCESS ? failed : start();
    failed = result; /* reported once: a later call gets the same result at once */
    pthread_mutex_unlock(&lock);
    return result;
}
