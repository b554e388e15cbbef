/*
 * What a device's turns thread does (turns_thread.h): drains after a CLOSED, gives a granted turn back when its work is done and nothing
 * follows, samples whether the device is busy, and has memory moved. Brings about pauses, too (device_pause.h).
 */
#ifndef TESSERA_DRAIN_H
#define TESSERA_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* What the layers above do about memory at a turn's ends; called by the device's turns thread, without a lock. */
struct turn_memory {
    /* A moment, for settled(): the gate is closed, nothing is inside the driver, and the contexts are about to be waited for. */
    uint64_t (*moment)(void);
    /*
     * The device's contexts were idle after the moment: what was freed in the order of streams before it is free. If the order
     * has changed, the gate is open, and new work runs.
     */
    void (*settled)(unsigned device, uint64_t moment);
    /*
     * Moves what the targets ask for. `opening`: the gate is to open as soon as all is resident. How long the thread may sleep
     * until the next round, in nanoseconds; UINT64_MAX: until the thread is woken.
     */
    uint64_t (*move)(unsigned device, bool opening);
    /* The gate is about to open: fetches managed memory, for as long as `still` says that the order `word` holds. */
    void (*fetch)(unsigned device, uint64_t word, bool (*still)(unsigned device, uint64_t word));
    /* Each round under a manager: what the driver holds by itself is read off. */
    void (*poll)(unsigned device);
};

/* Before the first device is opened. `memory` is kept. */
void drain_serves(const struct turn_memory *memory);

/*
 * One round of the device's turns thread, after drain_serves(): returns how many nanoseconds may pass until the next one if the
 * thread is not woken. Waits for submissions, captures and contexts as long as the order holds.
 */
uint64_t drain_step(unsigned device);

/* In the child of a fork: no threads. */
void drain_forked(void);

#endif
