/*
 * Room on the device for memory of the driver that plan swap cannot move, such as arrays and exportable pools. Other
 * clients may have filled the device with memory that can move. So after OUT_OF_MEMORY the library reports a claim to
 * the manager and repeats the call until TESSERA_MEMORY_WAIT_MS have passed. Any thread that may wait.
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

/* Whether to repeat the call that had this result; if so, has waited some milliseconds. */
bool fixed_room_again(struct fixed_room *room, CUresult result);

/*
 * Evaluates to the result of an allocating driver call, repeated while that may help. The caller counts the allocation
 * with memory_record_fixed().
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
