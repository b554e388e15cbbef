/*
 * The thread that talks to the manager: it registers, receives orders and quotas, sends the heartbeat, and notices when
 * the manager is gone. It never calls the driver, so no work on the GPU delays its answers.
 */
#ifndef TESSERA_MANAGER_CLIENT_H
#define TESSERA_MANAGER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tessera_relay_answer;

/*
 * The port's handlers for the manager's orders and words; NULL: nothing to do. They are called by the manager client's thread,
 * and by the thread that starts it, which then holds the lock of manager_client_start(). So no handler may call
 * manager_client_start() or manager_client_absence_reason().
 */
struct manager_handlers {
    /* Before the first registration. */
    void (*prepare)(void);
    /* Before the segment changes: waits until no submission is inside the driver, and lets none begin until thaw(). False: not in time. */
    bool (*freeze)(uint64_t timeout_ns);
    /* After freeze(), or if registration failed; `connected`: there is a manager. */
    void (*thaw)(bool connected);
    /* The manager is gone. Gates keep their state until thaw(), which follows. Called a second time if no other manager comes in time. */
    void (*lost)(void);
    /* At each doorbell of the manager, and at each tick: flags for the whole process may have changed. */
    void (*look)(void);
    /* Whether the device is in use, so that order() is called for it at each tick. */
    bool (*open)(unsigned device);
    /* The device's orders may have changed. */
    void (*order)(unsigned device);
    /* An end of the queue for handed memory has arrived; `end` is in range, and the handler owns the descriptor. */
    void (*exchange)(unsigned device, unsigned end, int descriptor);
    /* An answer to manager_ask_relay(); its size and its device have been checked. */
    void (*relay_answer)(const struct tessera_relay_answer *answer);
};

/*
 * Called by each cuInit. Tries to register, waits at most the manager timeout for the answer, and starts the thread. Once
 * the thread runs, only the result is computed again. False: a setting is wrong, or there is no manager and TESSERA_REQUIRE
 * is set. `handlers` must stay valid. Any thread.
 */
bool manager_client_start(const struct manager_handlers *handlers);

/* Tells the manager about a device whose slot in the segment is filled. Any thread; never waits. */
void manager_client_announce(unsigned device);

/* In the child of a fork. */
void manager_client_forked(void);

/* Writes why the last registration by manager_client_start() failed. Any thread. */
void manager_client_absence_reason(char *to, size_t size);

#endif
