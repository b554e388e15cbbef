/*
 * Room on the device for the driver's own memory: code that it loads at a kernel's first use, a context, a graph's
 * executable. Other clients may fill the device with memory that can move. So after a refusal the manager is told of
 * the claim, and the driver is asked again until TESSERA_MEMORY_WAIT_MS have passed (SPEC.md, section 9.9). Any thread
 * that may wait; costs a comparison otherwise.
 */
#ifndef TESSERA_DRIVER_ROOM_H
#define TESSERA_DRIVER_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

struct driver_room {
    uint64_t until_ns; /* 0: nothing has been refused yet */
    uint64_t claimed;
    uint64_t most; /* what is claimed at most */
    unsigned device;
};

bool driver_room_wait(struct driver_room *room, CUresult result);

/* The driver has answered a call on the current context's device: whether to ask it again. May wait some milliseconds. */
static inline bool driver_room_again(struct driver_room *room, CUresult result)
{
    return __builtin_expect(result == CUDA_ERROR_OUT_OF_MEMORY || room->until_ns != 0, 0) &&
           driver_room_wait(room, result);
}

/* The same of a call that makes a context on the device. */
bool driver_room_context_again(struct driver_room *room, CUdevice device, CUresult result);

/* Evaluates to the result of a call of the driver on the current context's device, made as often as it may help. */
#define WITH_DRIVER_ROOM(call)                                                                                         \
    __extension__({                                                                                                    \
        struct driver_room room = {0};                                                                                 \
        CUresult answered;                                                                                             \
        do                                                                                                             \
            answered = (call);                                                                                         \
        while (driver_room_again(&room, answered));                                                                    \
        answered;                                                                                                      \
    })

/* Evaluates to the result of a call of the driver that makes a context on the device, made as often as it may help. */
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
