/*
 * The thread that talks to the manager: registers, receives orders and quotas, beats the heart, and notices when the
 * manager is gone. It never calls the driver, so nothing the GPU does can keep it from answering.
 */
#ifndef TESSERA_MANAGER_CLIENT_H
#define TESSERA_MANAGER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tessera_relay_answer;

/*
 * What the port in use does with the manager's orders and words. NULL: nothing to do. Called by the manager client's thread, and by
 * the one that starts it, under manager_client_start()'s lock: none of them may call manager_client_start() or manager_client_absence_reason().
 */
struct manager_handlers {
    /* Before the first registration. */
    void (*prepare)(void);
    /* No submission is inside once this returns, and none begins until thaw(): the segment changes. False: one did not return in time. */
    bool (*freeze)(uint64_t timeout_ns);
    /* After freeze(), or if the client is not registered: whether there is a manager. */
    void (*thaw)(bool connected);
    /* The manager is gone. Gates keep their state; later thaw() follows. More than once where no other manager comes. */
    void (*lost)(void);
    /* At each bell of the manager's, and each tick: flags for the whole process may have changed. */
    void (*look)(void);
    /* Whether the device is in use, so that its orders are looked at with each tick. */
    bool (*open)(unsigned device);
    /* The device's orders may have changed. */
    void (*order)(unsigned device);
    /* An end of the queue for handed memory, which is in range; the descriptor is the client's. */
    void (*exchange)(unsigned device, unsigned end, int descriptor);
    /* An answer to manager_ask_relay(), of the right size, for a device in range. */
    void (*relay_answer)(const struct tessera_relay_answer *answer);
};

/*
 * At the first cuInit: tries to register, waiting as long as for a sign of life, and starts the thread. False: no
 * manager although TESSERA_REQUIRE asks for one. Idempotent. `handlers` are kept.
 */
bool manager_client_start(const struct manager_handlers *handlers);

/* Tells the manager of a device whose slot is filled. Any thread; never waits. */
void manager_client_announce(unsigned device);

/* In the child of a fork. */
void manager_client_forked(void);

/* Why there was no manager when one was last looked for. Any thread. */
void manager_client_absence_reason(char *to, size_t size);

#endif
