/*
 * Room on the device for the driver's own memory: code that is loaded at a kernel's first use, a context, a graph's
 * executable. Other clients may have filled the device with memory that can move. So after OUT_OF_MEMORY the library
 * reports a claim to the manager and repeats the call until TESSERA_MEMORY_WAIT_MS have passed (SPEC.md, section 9.9).
 * Any thread that may wait. A call that succeeds costs one comparison.
 */
#ifndef TESSERA_DRIVER_ROOM_H
#define TESSERA_DRIVER_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

struct driver_room {
    uint64_t until_ns; /* 0: no call has been refused yet */
    uint64_t claimed;
    uint64_t most; /* bytes that may be claimed at most */
    unsigned device;
};

/* The slow path of driver_room_again(). */
bool driver_room_wait(struct driver_room *room, CUresult result);

/* Whether to repeat a call on the current context's device that had this result. May wait some milliseconds. */
static inline bool driver_room_again(struct driver_room *room, CUresult result)
{
    return __builtin_expect(result == CUDA_ERROR_OUT_OF_MEMORY || room->until_ns != 0, 0) &&
           driver_room_wait(room, result);
}

/* As driver_room_again(), for a call that creates a context on the device. */
bool driver_room_context_again(struct driver_room *room, CUdevice device, CUresult result);

/* Evaluates to the result of a driver call on the current context's device, repeated while that may help. */
#define WITH_DRIVER_ROOM(call)                                                                                         \
    __extension__({                                                                                                    \
        struct driver_room room = {0};                                                                                 \
        CUresult answered;                                                                                             \
        do                                                                                                             \
            answered = (call);                                                                                         \
        while (driver_room_again(&room, answered));                                                                    \
        answered;                                                                                                      \
    })

/* Evaluates to the result of a driver call that creates a context on the device, repeated while that may help. */
#define WITH_CONTEXT_ROOM(device, call)                                                                                \
    __extension__({                                                                                                    \
        struct driver_room room = {0};                                                                                 \
        CUresult answered;                                                                                             \
        do                                                                                                             \
            answered = (call);                                                                                         \
        while (driver_room_context_again(&room, (device), answered));                                                  \
        answered;                                                                                                      \
    })

#endif
