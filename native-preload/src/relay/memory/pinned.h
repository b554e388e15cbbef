/* Memory that client and executor map at one address. */
#ifndef TESSERA_RELAY_PINNED_H
#define TESSERA_RELAY_PINNED_H

#include "relay/wire/relay.h"

struct relay_pinned {
    uint64_t id;
    void *address; /* the same on the device */
    uint64_t bytes;
};

/* Allocates `bytes` bytes or somewhat more: 0, OUT_OF_MEMORY, or another error. */
CUresult relay_pin(struct relay_link *link, uint64_t bytes, struct relay_pinned *pinned);

/* Unmaps it here and in the executor. */
CUresult relay_unpin(struct relay_link *link, const struct relay_pinned *pinned);

#endif
