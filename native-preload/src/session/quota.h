/*
 * The client's side of the tenant's memory limit: one lease for each device. When it does not suffice, the manager is
 * asked for more. Any thread may call these functions unless they say otherwise.
 */
#ifndef TESSERA_QUOTA_H
#define TESSERA_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes bytes of the device's lease. May wait for the manager, at most the manager timeout. False: the limit does not
 * allow them.
 */
bool quota_take(unsigned device, uint64_t bytes);

/* Returns bytes of quota_take() to the lease. */
void quota_give(unsigned device, uint64_t bytes);

/* The bytes taken have become an allocation: updates the peak. */
void quota_settled(unsigned device);

/* Adds to the bytes of managed memory, or subtracts. */
void quota_managed(unsigned device, int64_t bytes);

/* Sets the memory of the device's graphs, which counts as used even beyond the lease, because the driver has allocated it already. */
void quota_graph_memory(unsigned device, uint64_t bytes);

/* The limit in bytes that the program is shown, 0: none; and the bytes that the tenant uses of it, in all its clients. */
uint64_t quota_limit(unsigned device);
uint64_t quota_used(unsigned device);

/* Before a device is announced: discards its lease, so that quota_take() waits for the new one. */
void quota_await_lease(unsigned device);
/* Manager client's thread: the manager has answered, requests the unused lease, or is gone. */
void quota_answer(unsigned device, uint64_t granted_bytes);
void quota_trim(unsigned device);
void quota_disconnected(void);

/* In the child of a fork. */
void quota_forked(void);

#endif
