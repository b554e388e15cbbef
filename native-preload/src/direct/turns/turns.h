/*
 * The client's side of the turn protocol (SPEC.md, section 3): this file applies orders to the gates and answers them;
 * drain.c does what has to be done between a closed gate and the answer.
 *
 * Locking: one lock per device, held for a few instructions only, never over a driver call or a wait.
 */
#ifndef TESSERA_TURNS_H
#define TESSERA_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* What drain.c works on: a consistent view of one device's turn. */
struct turn_view {
    uint64_t word;     /* the turn word that was applied last */
    bool connected;    /* a manager gives orders */
    bool drain_due;    /* CLOSED was ordered, and not yet answered */
    bool granted;      /* this client alone may run */
    bool opening;      /* the gate is to open, and stays closed until all memory is resident (plan swap) */
    uint64_t since_ns; /* when the gate was last opened or closed by an order */
};

/* Prepares the process: membarrier, fork handlers. Called at the first cuInit; idempotent. */
void turns_prepare(void);

/* First context on the device: its gate is governed from now on. The caller announces the device afterwards. */
void turns_device_opened(unsigned device);

/* Blocks at a closed gate until it may be open; the caller tries again. Bounded: see manager_client.c. */
void turns_wait(unsigned device);

/* Orders may have changed (doorbell, timer): applies them. The manager client's thread alone. */
void turns_apply(unsigned device);

/* All gates closed with nothing inside, for segment_adopt(); false: a submission did not return in time. */
bool turns_freeze(uint64_t timeout_ns);
/* After turns_freeze(): with a manager the gates stay closed until it orders, without one they open. */
void turns_thaw(bool connected);

/* For the drain thread. */
struct turn_view turns_view(unsigned device);
/* Opens or closes the gate if the order is still `word`, for a capture that must end first. False: order changed. */
bool turns_set_gate(unsigned device, uint64_t word, bool open);
/* All memory is resident: opens the gate that is `opening`, and answers its order. */
void turns_resident(unsigned device);
/* Whether submissions are to fail with OUT_OF_MEMORY: no manager, and the memory has not come back within the wait. */
bool turns_refuse(unsigned device);
/* The drain of `word` is done: answers CLOSED. False: the order changed meanwhile. */
bool turns_drained(unsigned device, uint64_t word, uint64_t drain_ns);
/*
 * Keeps the gate closed, whatever the manager orders and whether there is one, until turns_resume(), which opens it if it is
 * to be open by then. Nothing is told to the manager. One pause at a time: device_pause.c.
 */
void turns_pause(unsigned device);
/* Without a pause: nothing. */
void turns_resume(unsigned device);
/* Closes the gate of a granted turn in order to give it back; false: the order changed meanwhile. */
bool turns_close_early(unsigned device, uint64_t word);
/* Ends turns_close_early(): gives the turn back, or opens the gate again because work came. */
void turns_finish_early(unsigned device, uint64_t word, bool release);

/* Plan managed, drain thread: whether memory is to be fetched before the gate opens; and that it was. */
bool turns_prefetch_due(unsigned device);
void turns_prefetched(unsigned device, uint64_t word);

/* In the child of a fork. */
void turns_forked(void);

#endif
