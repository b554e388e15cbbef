/*
 * Chooses the port of the process: direct, to the vendor's library and a context of its own, or relay, to an executor.
 * The settings decide it once, at the first call of any entry. Every exported symbol jumps through tessera_port.
 */
#include <pthread.h>

#include "direct/entry/init.h"
#include "driver/driver_types.h"
#include "driver/trace.h"
#include "driver/user.h"
#include "relay/streams/forward_call.h"
#include "relay_stubs.h"
#include "session/connection.h"
#include "session/report.h"
#include "session/settings.h"
#include "tessera_entries.h"

/* A manager answers in less than a millisecond. A stopped manager must not block the program. */
#define ASK_TIMEOUT_MS 2000

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool relay;

static CUresult answer_not_in_relay(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void set(unsigned index, void *function)
{
    __atomic_store_n(&tessera_port[index], function, __ATOMIC_RELEASE);
}

/*
 * An entry without a hook gets the vendor's entry, or the lazy stub, which finds it and then puts it here (driver.c).
 */
static void fill_direct(void)
{
    direct_prepare();
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        if (!tessera_entry_hooked[i])
            set(i, __atomic_load_n(&tessera_real[i], __ATOMIC_ACQUIRE));
    for (unsigned h = 0; h < tessera_hooked_count; h++)
        set(tessera_hooked[h].entry, tessera_hooked[h].hook);
}

/* The relay's function for an entry; NULL: this library has none. */
static void *relay_function(unsigned index)
{
    void *const senders[] = {(void *)relay_call, (void *)relay_post};
    return senders[0] && senders[1] ? tessera_relay_port[index] : NULL;
}

/* An entry that this library lacks keeps its stub, so that each call is counted by name. */
static void fill_relay(void)
{
    for (unsigned i = 0; i < TESSERA_ENTRY_COUNT; i++)
        if (relay_function(i))
            set(i, relay_function(i));
}

/*
 * The manager is not asked where a setting exists only in time sharing: unified memory, swapping by the library, and
 * guaranteed memory. Without an answer a program shares by time.
 */
static void ask_manager(void)
{
    const struct tessera_settings *given = settings();
    bool turns = given->managed || (given->swap && !given->automatic) || given->guarantee_bytes ||
                 given->swap_directory[0];
    if (given->chosen && !given->disabled && !given->wrong[0] && !turns)
        settings_choose_space(connection_ask_space(ASK_TIMEOUT_MS));
}

static void choose(void)
{
    ask_manager();
    relay = settings()->space && !settings()->disabled;
    if (relay)
        fill_relay();
    else
        fill_direct();
    if (!settings()->wrong[0]) /* otherwise cuInit fails and reports the setting */
        trace_port();
}

/* Any thread; makes no driver call. */
static void *where_to(unsigned index)
{
    pthread_once(&once, choose);
    if (!relay)
        return __atomic_load_n(&tessera_port[index], __ATOMIC_ACQUIRE);
    void *function = relay_function(index);
    if (function)
        return function;
    report_error(CUDA_ERROR_NOT_SUPPORTED, "the relay of this library has no %s", tessera_entry_name[index]);
    return (void *)answer_not_in_relay;
}

static const char *library(void)
{
    return settings()->driver;
}

static void say(const char *line)
{
    report_line("%s", line);
}

static void count(int code, const char *text)
{
    report_error(code, "%s", text);
}

static const char *wrong(void)
{
    return settings()->wrong;
}

static const struct driver_user user = {
    .library = library, .wrong = wrong, .choose = where_to, .say = say, .count = count};
DRIVER_USED_BY(user)
