/*
 * Physical memory that clients of one user hand each other when they take turns. Given back to the driver it would be cleared
 * first, which takes a sixth of the bus from what comes in at the same time (H200: 42 GB/s in place of 51), and the next client
 * would have it made again. Instead a client whose contents are safe in host memory puts a file descriptor of the memory into a
 * queue of the device, and the next one takes it from there for contents that fill it whole: nobody reads what another left.
 *
 * The queue is a pair of sockets that the manager makes for the clients of one user and gives to each of them, once there are
 * two. What nobody takes the manager takes out. Where anything fails, memory goes back to the driver and comes from there. All
 * functions may be called by any thread; none of them waits.
 */
#ifndef TESSERA_EXCHANGE_H
#define TESSERA_EXCHANGE_H

#include <stdbool.h>

struct chunk;

/* From the manager: one end of a device's queue, which the module owns from now on. Any other end is closed. */
void exchange_adopt(unsigned device, unsigned end, int descriptor);
/* The manager is gone, and with it what it takes out: memory goes to the driver again. */
void exchange_disconnected(void);

/* Whether the device's memory can be handed on: it has to be made so. */
bool exchange_open(unsigned device);

/*
 * The chunk, which is BUSY, has left its addresses. A descriptor by which its memory can be handed on once the driver has taken
 * the handle, or -1: its contents are not in its backing, or it is not of the size that others can use. The caller gives it to
 * exchange_give().
 */
int exchange_descriptor(const struct chunk *chunk);
/* Hands the memory on that the chunk had. `released`: it has no handle any more; else it keeps what it has, and nobody gets it. */
void exchange_give(struct chunk *chunk, int descriptor, bool released);

/* Memory for a chunk, which is BUSY and whose backing fills it whole: sets its handle and its descriptor. False: there is none. */
bool exchange_take(struct chunk *chunk);

/* The chunk's memory is given up: closes its descriptor, if it has one, which would keep the memory. */
void exchange_forget(struct chunk *chunk);

/* The driver has no memory left: gives it one piece back that waits for a taker. False: none waits. */
bool exchange_drop(unsigned device);

/* In the child of a fork: the queue stays the parent's, and its memory goes when the parent gives it up. */
void exchange_forked(void);

#endif
