/* The tenant's memory limit on this client's side: a lease per device, asked for more when it does not do. */
#ifndef TESSERA_QUOTA_H
#define TESSERA_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes bytes of the device's lease; may wait for the manager, as long as for a sign of life. False: the limit does not
 * allow them.
 */
bool quota_take(unsigned device, uint64_t bytes);

/* Gives them back. */
void quota_give(unsigned device, uint64_t bytes);

/* The bytes taken have become an allocation: the peak follows. */
void quota_settled(unsigned device);

/* Counts bytes as managed, or no longer so. */
void quota_managed(unsigned device, int64_t bytes);

/* Memory of the device's graphs counts as used whatever the lease says, since the driver has it already. */
void quota_graph_memory(unsigned device, uint64_t bytes);

/* The limit that the program is shown: bytes, or 0 for none; and what the tenant uses of it, elsewhere too. */
uint64_t quota_limit(unsigned device);
uint64_t quota_used(unsigned device);

/* The manager client's thread: the device is being announced, and its lease will come. */
void quota_await_lease(unsigned device);
/* The manager client's thread: the manager's answer, its request to give back, its loss. */
void quota_answer(unsigned device, uint64_t granted_bytes);
void quota_trim(unsigned device);
void quota_disconnected(void);

/* In the child of a fork. */
void quota_forked(void);

#endif
