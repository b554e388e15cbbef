/*
 * One thread per device, started with the first order for it: drains after a CLOSED, gives a granted turn back when
 * its work is done and nothing follows, samples whether the device is busy, and under plan swap moves memory (moves.c).
 * Brings about standstills, too (standstill.h).
 */
#ifndef TESSERA_DRAIN_H
#define TESSERA_DRAIN_H

/* Something changed for the device: the thread looks. Starts it if need be. */
void drain_wake(unsigned device);

/* In the child of a fork: no threads. */
void drain_forked(void);

#endif
