/*
 * What a generated sender of the relay port knows of its parameters, for relay_call() and relay_post() (forward_call.h).
 * Senders are written by tools/autotalk from api/cuda.relay (target/generated/relay_senders.c); RELAY.md, section 3, says
 * how a call travels.
 */
#ifndef TESSERA_RELAY_CALL_DESCRIPTION_H
#define TESSERA_RELAY_CALL_DESCRIPTION_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "driver/driver_types.h"
#include "tessera_relay.h"

/*
 * Marks functions that are written by hand. A library that lacks one still links; it counts each call of that function
 * and answers NOT_SUPPORTED. With RELAY_COMPLETE defined, such a library does not link.
 */
#ifdef RELAY_COMPLETE
#define RELAY_HANDWRITTEN
#else
#define RELAY_HANDWRITTEN __attribute__((weak))
#endif

/* What the 64-bit slot of a parameter holds. */
enum {
    RELAY_NUMBER = 0,    /* a value, widened as the ABI does; device addresses among them */
    RELAY_OPAQUE = 1,    /* an address that is never dereferenced: a function, or a value passed to one */
    RELAY_HANDLE = 2,    /* a handle */
    RELAY_POINTER = 3,   /* the address of host memory, or NULL */
    RELAY_STRUCTURE = 4, /* a structure by value: the address of its bytes, which go in */
};

/* Which way the content behind a pointer goes; both bits: both ways. */
enum { RELAY_IN = 1, RELAY_OUT = 2 };

/* How many elements lie behind a pointer. */
enum {
    RELAY_EXTENT_CONSTANT = 0, /* count */
    RELAY_EXTENT_VALUE = 1,    /* argument `index` times count, minus `less`, at least 0 */
    RELAY_EXTENT_BEHIND = 2,   /* the number that argument `index` points to, of behind_bytes bytes; NULL: 0 */
    RELAY_EXTENT_TEXT = 3,     /* up to and including the final zero */
    RELAY_EXTENT_GIVEN = 4,    /* argument `index`, after the parameters: the hand-written front has measured it */
};

struct relay_parameter {
    uint8_t shape;        /* RELAY_NUMBER... */
    uint8_t handle;       /* TESSERA_HANDLE_* of the value, or of the elements behind a pointer; 0: no handles */
    uint8_t direction;    /* RELAY_IN | RELAY_OUT; 0: not a pointer */
    uint8_t extent;       /* RELAY_EXTENT_* */
    uint8_t index;        /* of the argument that tells the extent */
    uint8_t behind_bytes; /* 4 or 8 */
    uint16_t less;
    uint32_t element_bytes;
    uint32_t count;
};

#define RELAY_NO_STREAM 255u

struct relay_description {
    uint16_t entry;     /* ENTRY_name */
    uint8_t parameters; /* of the driver's entry; lengths from a hand-written front follow them */
    uint8_t stream;     /* index of the first stream parameter, or RELAY_NO_STREAM */
    const struct relay_parameter *parameter;
};

/* The stream argument of a per-thread twin, in which 0 means the per-thread stream. */
#define relay_per_thread(stream) ((stream) ? (stream) : (CUstream)TESSERA_STREAM_PER_THREAD)

static inline uint64_t relay_float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Elements behind parameter number `at`, which is not a null pointer. */
static inline uint64_t relay_elements(const struct relay_parameter *p, unsigned at, const uint64_t *arguments)
{
    switch (p->extent) {
    case RELAY_EXTENT_VALUE: {
        uint64_t elements;
        if (__builtin_mul_overflow(arguments[p->index], (uint64_t)p->count, &elements))
            return UINT64_MAX;
        return elements > p->less ? elements - p->less : 0;
    }
    case RELAY_EXTENT_BEHIND: {
        uint64_t elements = 0; /* little endian: the low bytes */
        if (arguments[p->index])
            memcpy(&elements, (const void *)(uintptr_t)arguments[p->index], p->behind_bytes);
        return elements;
    }
    case RELAY_EXTENT_TEXT:
        return strlen((const char *)(uintptr_t)arguments[at]) + 1;
    case RELAY_EXTENT_GIVEN:
        return arguments[p->index];
    default:
        return p->count;
    }
}

/* Bytes behind parameter number `at`. 0: a null pointer, or not a pointer; UINT64_MAX: the number overflows. */
static inline uint64_t relay_bytes(const struct relay_description *description, unsigned at, const uint64_t *arguments)
{
    const struct relay_parameter *p = &description->parameter[at];
    if ((p->shape != RELAY_POINTER && p->shape != RELAY_STRUCTURE) || !arguments[at])
        return 0;
    uint64_t bytes;
    return __builtin_mul_overflow(relay_elements(p, at, arguments), (uint64_t)p->element_bytes, &bytes) ? UINT64_MAX
                                                                                                        : bytes;
}

#endif
