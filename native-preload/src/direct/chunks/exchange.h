/*
 * Physical memory that clients of one user hand to each other when they take turns. The driver clears memory that is
 * given back to it, which takes a sixth of the bus from copies in (H200: 42 GB/s instead of 51), and the next client
 * would have to create memory. Instead a client puts file descriptors of its memory into a queue of the device, once
 * the contents are safe in host memory. The next client takes a descriptor for contents that fill the memory
 * completely, so no client reads what another one left.
 *
 * The queue is a pair of sockets. The manager makes it for the clients of one user and gives it to each of them, once
 * there are two. The manager removes memory that no client takes. After any failure, memory goes back to the driver and
 * comes from there. All functions may be called by any thread; none of them waits.
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
/*
 * Hands the chunk's memory on. `released`: the chunk has no handle any more; otherwise it keeps its memory, and no
 * client gets it.
 */
void exchange_give(struct chunk *chunk, int descriptor, bool released);

/*
 * Takes memory for a chunk, which is BUSY and whose backing fills it completely: sets its handle and its descriptor.
 * False: there is none.
 */
bool exchange_take(struct chunk *chunk);

/* The chunk's memory is given up: closes its descriptor, if it has one, which would keep the memory. */
void exchange_forget(struct chunk *chunk);

/* The driver has no memory left: gives one piece of the queue back to it. False: the queue is empty. */
bool exchange_drop(unsigned device);

/* In the child of a fork: the queue stays the parent's, and its memory goes when the parent gives it up. */
void exchange_forked(void);

#endif
