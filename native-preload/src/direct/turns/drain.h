/*
 * The work of a device's turns thread (turns_thread.h): drains after a CLOSED order, gives a granted turn back when the
 * program has no more work, samples whether the device is busy, has memory moved, and makes pauses (device_pause.h).
 */
#ifndef TESSERA_DRAIN_H
#define TESSERA_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Handlers of the upper layers for memory at the beginning and end of turns. Called by the turns thread, without a
 * lock.
 */
struct turn_memory {
    /* Returns a moment for settled(). The gate is closed, and the contexts are synchronised next. */
    uint64_t (*moment)(void);
    /*
     * The device's contexts were idle after the moment, so memory that was freed before it in the order of streams is
     * reusable. If the order has changed since, the gate is open again and new work runs.
     */
    void (*settled)(unsigned device, uint64_t moment);
    /*
     * Moves memory by the manager's targets. `opening`: the gate is to open as soon as all is resident. Returns how
     * long the thread may sleep until the next round, in nanoseconds; UINT64_MAX: until it is woken.
     */
    uint64_t (*move)(unsigned device, bool opening);
    /* Before the gate opens: fetches managed memory while `still` says that the order `word` holds. */
    void (*fetch)(unsigned device, uint64_t word, bool (*still)(unsigned device, uint64_t word));
    /* Each round under a manager: reads how much memory the driver's graphs hold. */
    void (*poll)(unsigned device);
};

/* Sets the handlers, before the first device is opened. `memory` must stay valid. */
void drain_serves(const struct turn_memory *memory);

/*
 * One round of the device's turns thread, after drain_serves(). Returns how many nanoseconds may pass until the next
 * one if the thread is not woken. A drain waits for submissions, captures and contexts while the order holds.
 */
uint64_t drain_step(unsigned device);

/* In the child of a fork: there are no threads. */
void drain_forked(void);

#endif
