/*
 * Two devices by relay, each with an executor of its own: no address is both devices', and an address alone says whose it is,
 * whichever device is current. Run with drivers that give out the same addresses.
 */
#include <string.h>

#include "check.h"
#include "cuda_calls.h"
#include "cuda_constants.h"

#define MIB ((size_t)1 << 20)

enum { DEVICES = 2, BLOCKS = 12, PINNED = 3 };

static void *contexts[DEVICES];
static CUdeviceptr blocks[DEVICES][BLOCKS];
static unsigned char *pinned[DEVICES][PINNED];

static void apart(uint64_t first, uint64_t second)
{
    CHECK(first + MIB <= second || second + MIB <= first);
}

static void allocate(void)
{
    for (int device = 0; device < DEVICES; device++) {
        OKAY(cuCtxSetCurrent(contexts[device]));
        for (int i = 0; i < BLOCKS; i++)
            OKAY(cuMemAlloc_v2(&blocks[device][i], MIB));
        for (int i = 0; i < PINNED; i++)
            OKAY(cuMemHostAlloc((void **)&pinned[device][i], MIB, 0));
    }
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j < BLOCKS; j++)
            apart(blocks[0][i], blocks[1][j]);
    for (int i = 0; i < PINNED; i++)
        for (int j = 0; j < PINNED; j++)
            apart((uintptr_t)pinned[0][i], (uintptr_t)pinned[1][j]);
}

/* Every block holds what was put there, and its device's number; the other device is current where that is possible. */
static void contents(void)
{
    static unsigned char data[MIB], back[MIB];
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < BLOCKS; i++) {
            int ordinal = 9;
            OKAY(cuCtxSetCurrent(contexts[i % 2]));
            memset(data, device * 100 + i + 1, MIB);
            OKAY(cuMemcpyHtoD_v2(blocks[device][i], data, MIB));
            OKAY(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, blocks[device][i]));
            EQUAL(device, ordinal);
        }
    for (int device = 0; device < DEVICES; device++)
        for (int i = 0; i < BLOCKS; i++) {
            OKAY(cuCtxSetCurrent(contexts[(i + 1) % 2]));
            memset(data, device * 100 + i + 1, MIB);
            OKAY(cuMemcpyDtoH_v2(back, blocks[device][i], MIB));
            EQUAL(0, memcmp(data, back, MIB));
            memset(back, 0, MIB);
            OKAY(cuMemcpy((uintptr_t)back, blocks[device][i], MIB));
            EQUAL(0, memcmp(data, back, MIB));
        }
}

/* From one device to the other by plain addresses, by name, and through memory that the other one has pinned. */
static void between(void)
{
    static unsigned char back[MIB];
    void *stream;
    OKAY(cuCtxSetCurrent(contexts[0]));
    OKAY(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memset(pinned[0][0], 0x31, MIB);
    OKAY(cuMemcpyHtoDAsync_v2(blocks[0][0], pinned[0][0], MIB, stream));
    OKAY(cuMemcpyAsync(blocks[1][0], blocks[0][0], MIB, stream)); /* behind what the stream has before */
    OKAY(cuMemcpyDtoH_v2(back, blocks[1][0], MIB));
    EQUAL(0x31, back[0]);
    EQUAL(0x31, back[MIB - 1]);
    memset(pinned[1][0], 0x32, MIB);
    OKAY(cuMemcpyHtoD_v2(blocks[0][1], pinned[1][0], MIB));
    OKAY(cuMemcpyPeer(blocks[1][1], contexts[1], blocks[0][1], contexts[0], MIB));
    OKAY(cuMemcpy((uintptr_t)pinned[0][1], blocks[1][1], MIB));
    EQUAL(0x32, pinned[0][1][0]);
    EQUAL(0x32, pinned[0][1][MIB - 1]);
    OKAY(cuMemcpyDtoD_v2(blocks[0][2], blocks[1][1], MIB));
    OKAY(cuMemcpyDtoH_v2(back, blocks[0][2], MIB));
    EQUAL(0x32, back[MIB / 2]);
    OKAY(cuStreamDestroy_v2(stream));
}

static void release(void)
{
    for (int device = 0; device < DEVICES; device++) {
        OKAY(cuCtxSetCurrent(contexts[!device]));
        for (int i = 0; i < BLOCKS; i++)
            OKAY(cuMemFree_v2(blocks[device][i]));
        for (int i = 0; i < PINNED; i++)
            OKAY(cuMemFreeHost(pinned[device][i]));
    }
    CHECK(cuMemFree_v2(blocks[0][0]) != 0);
}

int main(void)
{
    int count = 0;
    OKAY(cuInit(0));
    OKAY(cuDeviceGetCount(&count));
    EQUAL(DEVICES, count);
    for (int device = 0; device < DEVICES; device++)
        OKAY(cuDevicePrimaryCtxRetain(&contexts[device], device));
    allocate();
    contents();
    between();
    release();
    printf("devices ok\n");
    return 0;
}
