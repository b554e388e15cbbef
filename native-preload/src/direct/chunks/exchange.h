/*
 * Handed memory: physical memory that clients of one user pass to each other when they take turns. Presumably the
 * driver clears released memory with a copy engine: releasing slows copies in by a sixth (H200: 42 GB/s instead of 51).
 * Also, the next client would have to create memory. Instead a client puts a file descriptor of its memory into a queue
 * of the device, after the contents were copied to host memory. The next client takes memory only for a chunk that its
 * own contents overwrite completely, so no client reads what another one left.
 *
 * The queue is a pair of sockets. The manager creates it for the clients of one user once there are two, and sends both
 * ends to each of them. The manager removes memory that no client takes. After any failure, memory is released to the
 * driver and created by it. Any thread may call these functions; none of them waits.
 */
#ifndef TESSERA_EXCHANGE_H
#define TESSERA_EXCHANGE_H

#include <stdbool.h>

struct chunk;

/* Takes ownership of one end of a device's queue, which the manager sent; closes the end that it replaces. */
void exchange_adopt(unsigned device, unsigned end, int descriptor);
/* The manager has ended, so no process would remove memory from the queues: closes them. */
void exchange_disconnected(void);

/* Whether the device has a queue. If so, its memory has to be created exportable. */
bool exchange_open(unsigned device);

/*
 * Makes a descriptor of the memory of a BUSY chunk that has been unmapped, before the driver's handle is released. -1:
 * its contents are not in its backing, or other clients cannot use memory of its size. The caller passes the result to
 * exchange_give().
 */
int exchange_descriptor(const struct chunk *chunk);
/*
 * Puts the memory into the queue if `released` says that the driver's handle is gone; else the chunk keeps its memory,
 * and no client gets it. Closes the descriptor, unless the chunk keeps it.
 */
void exchange_give(struct chunk *chunk, int descriptor, bool released);

/*
 * Takes memory from the queue for a BUSY chunk whose backing fills it completely: sets its handle and its descriptor.
 * False: there is none, or it cannot be used.
 */
bool exchange_take(struct chunk *chunk);

/* The chunk's memory is released: closes its descriptor, if any. An open descriptor would keep the memory allocated. */
void exchange_forget(struct chunk *chunk);

/* The driver has no memory left: returns one piece of the queue to it. False: the queue is empty. */
bool exchange_drop(unsigned device);

/* In the child of a fork: closes its copies of the queues' ends and of all descriptors. */
void exchange_forked(void);

#endif
