/* One linear copy as it is sent to the executor, and the sides of a copy. */
#ifndef TESSERA_RELAY_COPY_SUBMIT_H
#define TESSERA_RELAY_COPY_SUBMIT_H

#include "relay/wire/relay.h"

/* One side of a copy. */
struct copy_place {
    enum {
        COPY_ADDRESS,  /* memory that the executor reaches: the device's, or pinned for this device */
        COPY_ARRAY,    /* a one-dimensional array */
        COPY_PAGEABLE, /* the program's own memory */
    } kind;
    uint64_t at; /* address; of an array: offset in bytes */
    CUarray array;
};

static inline struct copy_place copy_device(CUdeviceptr address)
{
    return (struct copy_place){.kind = COPY_ADDRESS, .at = address};
}

static inline struct copy_place copy_array(CUarray array, size_t offset)
{
    return (struct copy_place){.kind = COPY_ARRAY, .at = offset, .array = array};
}

/* Resolves host memory or a UVA address: pinned memory, memory of the device, or pageable memory. */
struct copy_place copy_host(const struct relay_context *context, const void *address, size_t bytes);

/* Whether all of [address, address + bytes) lies in ranges of the link. */
bool copy_known(const struct relay_link *link, uint64_t address, size_t bytes);

static inline struct copy_place copy_moved(struct copy_place place, size_t bytes)
{
    place.at += bytes;
    return place;
}

/*
 * Sends one copy whose two sides the executor reaches. If an address is unknown, waits for the answer, which is the
 * error.
 */
CUresult copy_submit(struct relay_context *context, uint64_t wire, struct copy_place to, struct copy_place from,
                     size_t bytes);

#endif
