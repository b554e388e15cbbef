/* The order in which memory comes in: contents first, so that the bus is busy while the pages of memory without any change. */
#include "moving_program.h"

#define CAPACITY (64 * MIB) /* a chunk is a 32nd of it: 2 MiB */
#define EMPTY (40 * MIB)
#define FULL (8 * MIB)

static _Atomic uint64_t first_mapped;

static CUresult note_map(CUdeviceptr at, size_t bytes, size_t offset, unsigned long long handle,
                         unsigned long long flags)
{
    uint64_t none = 0;
    atomic_compare_exchange_strong(&first_mapped, &none, at);
    return INJECTED(cuMemMap)(at, bytes, offset, handle, flags);
}

int main(int count, char **arguments)
{
    (void)count;
    ensure_settings(arguments);
    alarm(HANGS_S);
    driver_load();
    open_device(true);
    words()->capacity_bytes = CAPACITY;
    residency_orders(0);
    struct held held[] = {allocate(EMPTY, 1), allocate(FULL, 2)};
    memset((void *)(uintptr_t)held[0].at, 0, EMPTY);
    fill(&held[1]);
    await_pinned();
    leave();
    HOOK(cuMemMap, note_map);
    come_back();
    CHECK(first_mapped >= held[1].at && first_mapped < held[1].at + FULL);
    verify(&held[1]);
    for (uint64_t i = 0; i < EMPTY; i++)
        CHECK(((const unsigned char *)(uintptr_t)held[0].at)[i] == 0);
    end(held, 2);
    printf("coming: ok\n");
    return 0;
}
