#include "direct/pools/fixed_room.h"

#include <unistd.h>

#include "driver/clock.h"
#include "direct/pools/pools.h"
#include "direct/turns/residency.h"
#include "session/segment.h"
#include "session/settings.h"

#define ASK_AGAIN_US 2000 /* about as long as another client needs to move one chunk of 64 MiB */

bool fixed_room_again(struct fixed_room *room, CUresult result)
{
    const struct tessera_residency *r = &segment_get()->residency[room->device];
    bool planned = settings()->swap && r->active && (r->capacity_bytes == 0 || room->bytes <= r->capacity_bytes);
    bool again = planned && result == CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t now_ns = monotonic_ns();
    if (again && room->until_ns == 0) {
        room->until_ns = now_ns + settings()->memory_wait_ns;
        residency_claim(room->device, (int64_t)room->bytes);
        pools_release(room->device);
    }
    again = again && now_ns < room->until_ns;
    if (again)
        usleep(ASK_AGAIN_US);
    else if (room->until_ns != 0)
        residency_claim(room->device, -(int64_t)room->bytes);
    return again;
}
