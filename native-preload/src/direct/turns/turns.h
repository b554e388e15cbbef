/*
 * The client's side of the turn protocol (SPEC.md, section 3). turns.c applies the manager's orders to the gates and
 * answers them; drain.c drains between the closed gate and the answer.
 *
 * Locking: one lock for each device, never held during a driver call or a wait.
 */
#ifndef TESSERA_TURNS_H
#define TESSERA_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/* A consistent copy of the state of one device's turn. */
struct turn_view {
    uint64_t word;     /* the turn word that was applied last */
    bool connected;    /* a manager gives orders */
    bool drain_due;    /* CLOSED was ordered and is not answered yet */
    bool granted;      /* this client alone may run */
    bool opening;      /* the gate opens when all memory is resident (plans swap and managed) */
    uint64_t since_ns; /* when the gate was last opened or closed by an order */
};

/* Prepares locks and membarrier. To be called before the first device is opened; may be called again until then. */
void turns_prepare(void);

/*
 * At the first context on the device: closes its gate if there is a manager. The caller announces the device
 * afterwards.
 */
void turns_device_opened(unsigned device);

/*
 * Sleeps at a closed gate until it opens, 100 ms at most; the caller tries again. manager_client.c bounds the whole
 * wait.
 */
void turns_wait(unsigned device);

/* Applies orders that may have changed (doorbell, timer). Manager client's thread only. */
void turns_apply(unsigned device);

/* Closes all gates and waits until no submission is inside the driver, for segment_adopt(). False: not in time. */
bool turns_freeze(uint64_t timeout_ns);
/* Ends turns_freeze(): with a manager, the gates stay closed until its orders; without one they open. */
void turns_thaw(bool connected);

/* The functions below are for the turns thread, unless they say otherwise. */
struct turn_view turns_view(unsigned device);
/* Opens or closes the gate for a capture that must end first. False: the order is no longer `word`. */
bool turns_set_gate(unsigned device, uint64_t word, bool open);
/* If the gate is `opening` and all memory is resident: opens it and answers its order. */
void turns_resident(unsigned device);
/*
 * Any thread: whether submissions fail with OUT_OF_MEMORY, because the manager has flagged TESSERA_RESIDENCY_SHORT, or
 * because there is no manager and memory has not come back within TESSERA_MEMORY_WAIT_MS.
 */
bool turns_refuse(unsigned device);
/* The drain for `word` is complete: answers CLOSED. False: the order has changed. */
bool turns_drained(unsigned device, uint64_t word, uint64_t drain_ns);
/*
 * For device_pause.c, one pause at a time: keeps the gate closed, whatever the orders are, until turns_resume(), which
 * opens it if the present order has it open. The manager is not told.
 */
void turns_pause(unsigned device);
/* Has no effect without a pause. */
void turns_resume(unsigned device);
/* Closes the gate of a granted turn, to give the turn back early. False: the order has changed. */
bool turns_close_early(unsigned device, uint64_t word);
/* Ends turns_close_early(): gives the turn back, or opens the gate again because there is new work. */
void turns_finish_early(unsigned device, uint64_t word, bool release);

/* Whether managed memory is to be fetched before the gate opens; and that this was done for the order `word`. */
bool turns_prefetch_due(unsigned device);
void turns_prefetched(unsigned device, uint64_t word);

/* In the child of a fork. */
void turns_forked(void);

#endif
