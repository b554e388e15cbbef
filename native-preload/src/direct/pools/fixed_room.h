/*
 * Room on the device for memory of the driver that plan swap cannot move: arrays, pools that may be exported. Other
 * clients may fill the device with memory that can move. So after a refusal the manager is told of the claim, and the
 * driver is asked again until TESSERA_MEMORY_WAIT_MS have passed.
 */
#ifndef TESSERA_FIXED_ROOM_H
#define TESSERA_FIXED_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/driver_types.h"

struct fixed_room {
    unsigned device;
    uint64_t bytes;
    uint64_t until_ns; /* 0: nothing has been claimed yet */
};

/* The driver has answered. True: ask it again; some milliseconds have been waited. */
bool fixed_room_again(struct fixed_room *room, CUresult result);

/*
 * Evaluates to the result of an allocating call of the driver, made as often as it may help. What the allocation then
 * counts is for memory_record_fixed().
 */
#define WITH_FIXED_ROOM(device, bytes, call)                                                                           \
    __extension__({                                                                                                    \
        struct fixed_room room = {(device), (bytes), 0};                                                               \
        CUresult answered;                                                                                             \
        do                                                                                                             \
            answered = (call);                                                                                         \
        while (fixed_room_again(&room, answered));                                                                     \
        answered;                                                                                                      \
    })

#endif
