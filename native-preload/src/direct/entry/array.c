/* Arrays and mipmapped arrays. They count by their texels, the least that the driver needs, and never move. */
#include <string.h>

#include "direct/pools/fixed_room.h"
#include "direct/memory/memory.h"
#include "direct/swap/several_devices.h"
#include "session/quota.h"
#include "tessera_entries.h"

/* Bytes of a channel, by CUarray_format; block-compressed and planar formats have at most 2 bytes for each texel. */
static unsigned format_bytes(int format)
{
    switch (format) {
    case 0x01: /* UNSIGNED_INT8 */
    case 0x08: /* SIGNED_INT8 */
        return 1;
    case 0x03: /* UNSIGNED_INT32 */
    case 0x0a: /* SIGNED_INT32 */
    case 0x20: /* FLOAT */
        return 4;
    default: /* 16-bit formats, and an upper bound for the others */
        return 2;
    }
}

static uint64_t texel_bytes(struct driver_array3d_descriptor d)
{
    if (d.flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) /* no memory of their own */
        return 0;
    uint64_t bytes = d.width;
    uint64_t factors[] = {d.height ? d.height : 1, d.depth ? d.depth : 1, d.channels ? d.channels : 1,
                          format_bytes(d.format)};
    for (int i = 0; i < 4; i++)
        if (__builtin_mul_overflow(bytes, factors[i], &bytes))
            return UINT64_MAX;
    return bytes;
}

static uint64_t mipmap_bytes(struct driver_array3d_descriptor d, unsigned levels)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < levels && i < 64; i++) {
        if (__builtin_add_overflow(bytes, texel_bytes(d), &bytes))
            return UINT64_MAX;
        d.width = d.width > 1 ? d.width / 2 : d.width;
        d.height = d.height > 1 ? d.height / 2 : d.height;
    }
    return bytes;
}

static CUresult settle(CUresult result, void *const *array, uint64_t bytes, int device)
{
    if (result == CUDA_SUCCESS)
        memory_record_fixed(ALLOCATION_ARRAY, (uint64_t)(uintptr_t)*array, bytes, (unsigned)device, memory_context());
    else
        quota_give((unsigned)device, bytes);
    return result;
}

#define CREATE(call, array, size)                                                                                      \
    int device = several_devices_current();                                                                            \
    if (device < 0 || !(array) || !descriptor)                                                                         \
        return (call);                                                                                                 \
    uint64_t bytes = (size);                                                                                           \
    if (!quota_take((unsigned)device, bytes))                                                                          \
        return CUDA_ERROR_OUT_OF_MEMORY;                                                                               \
    CUresult result = WITH_FIXED_ROOM((unsigned)device, bytes, call);                                                  \
    return settle(result, (void *const *)(array), bytes, device)

static struct driver_array3d_descriptor from_2d(const void *descriptor)
{
    struct driver_array_descriptor d;
    memcpy(&d, descriptor, sizeof d);
    return (struct driver_array3d_descriptor){d.width, d.height, 0, d.format, d.channels, 0};
}

static struct driver_array3d_descriptor from_2d_v1(const void *descriptor)
{
    struct driver_array_descriptor_v1 d;
    memcpy(&d, descriptor, sizeof d);
    return (struct driver_array3d_descriptor){d.width, d.height, 0, d.format, d.channels, 0};
}

static struct driver_array3d_descriptor from_3d(const void *descriptor)
{
    struct driver_array3d_descriptor d;
    memcpy(&d, descriptor, sizeof d);
    return d;
}

static struct driver_array3d_descriptor from_3d_v1(const void *descriptor)
{
    struct driver_array3d_descriptor_v1 d;
    memcpy(&d, descriptor, sizeof d);
    return (struct driver_array3d_descriptor){d.width, d.height, d.depth, d.format, d.channels, d.flags};
}

TESSERA_EXPORT CUresult cuArrayCreate_v2(CUarray *array, const void *descriptor)
{
    CREATE(REAL(cuArrayCreate_v2)(array, descriptor), array, texel_bytes(from_2d(descriptor)));
}

TESSERA_EXPORT CUresult cuArrayCreate(CUarray *array, const void *descriptor)
{
    CREATE(REAL(cuArrayCreate)(array, descriptor), array, texel_bytes(from_2d_v1(descriptor)));
}

TESSERA_EXPORT CUresult cuArray3DCreate_v2(CUarray *array, const void *descriptor)
{
    CREATE(REAL(cuArray3DCreate_v2)(array, descriptor), array, texel_bytes(from_3d(descriptor)));
}

TESSERA_EXPORT CUresult cuArray3DCreate(CUarray *array, const void *descriptor)
{
    CREATE(REAL(cuArray3DCreate)(array, descriptor), array, texel_bytes(from_3d_v1(descriptor)));
}

TESSERA_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const void *descriptor, unsigned levels)
{
    CREATE(REAL(cuMipmappedArrayCreate)(array, descriptor, levels), array, mipmap_bytes(from_3d(descriptor), levels));
}

#define DESTROY(call, array)                                                                                           \
    struct allocation gone;                                                                                            \
    bool known = allocations_remove(ALLOCATION_ARRAY, (uint64_t)(uintptr_t)(array), &gone);                            \
    CUresult result = (call);                                                                                          \
    if (known && result == CUDA_SUCCESS)                                                                               \
        memory_forget(&gone);                                                                                          \
    else if (known)                                                                                                    \
        allocations_add(gone);                                                                                         \
    return result

TESSERA_EXPORT CUresult cuArrayDestroy(CUarray array)
{
    DESTROY(REAL(cuArrayDestroy)(array), array);
}

TESSERA_EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray array)
{
    DESTROY(REAL(cuMipmappedArrayDestroy)(array), array);
}
