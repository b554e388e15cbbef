/* CUDA arrays, textures and surfaces: descriptions of the runtime turned into the driver's and back. */
#include <string.h>

#include "runtime.h"

/* cudaChannelFormatKind */
enum { KIND_SIGNED = 0, KIND_UNSIGNED = 1, KIND_FLOAT = 2 };

bool channel_format(const struct cudaChannelFormatDesc *channels, int *format, unsigned *count)
{
    if (!channels || !channels->x)
        return false;
    int bits[] = {channels->x, channels->y, channels->z, channels->w};
    unsigned n = 0;
    while (n < 4 && bits[n] == channels->x)
        n++;
    for (unsigned i = n; i < 4; i++)
        if (bits[i])
            return false;
    static const int formats[3][3] = {
        {CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32},
        {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32},
        {0, CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT}};
    int width = channels->x == 8 ? 0 : channels->x == 16 ? 1 : channels->x == 32 ? 2 : -1;
    if (n == 3 || width < 0 || channels->f < KIND_SIGNED || channels->f > KIND_FLOAT)
        return false;
    *format = formats[channels->f][width];
    *count = n;
    return *format != 0;
}

static int format_bits(int format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 16;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 32;
    default:
        return 0;
    }
}

void channel_description(int format, unsigned count, struct cudaChannelFormatDesc *channels)
{
    int bits = format_bits(format);
    *channels = (struct cudaChannelFormatDesc){
        .x = bits,
        .y = count > 1 ? bits : 0,
        .z = count > 2 ? bits : 0,
        .w = count > 3 ? bits : 0,
        .f = format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT ? KIND_FLOAT
             : format >= CU_AD_FORMAT_SIGNED_INT8                        ? KIND_SIGNED
                                                                         : KIND_UNSIGNED,
    };
}

static size_t element_bytes(const struct driver_array3d_descriptor *array)
{
    return (size_t)format_bits(array->format) / 8 * array->channels;
}

size_t array_element_bytes(cudaArray_t array)
{
    struct driver_array3d_descriptor found;
    return cuArray3DGetDescriptor_v2((void *)&found, array) == CUDA_SUCCESS ? element_bytes(&found) : 0;
}

size_t array_row_bytes(cudaArray_t array)
{
    struct driver_array3d_descriptor found;
    return cuArray3DGetDescriptor_v2((void *)&found, array) == CUDA_SUCCESS ? element_bytes(&found) * found.width : 0;
}

static cudaError_t describe(const struct cudaChannelFormatDesc *channels, struct cudaExtent extent, unsigned flags,
                            struct driver_array3d_descriptor *out)
{
    *out = (struct driver_array3d_descriptor){
        .width = extent.width, .height = extent.height, .depth = extent.depth, .flags = flags};
    return channel_format(channels, &out->format, &out->channels) ? cudaSuccess : 20 /* invalid channel descriptor */;
}

static cudaError_t allocate(CUarray *array, const struct cudaChannelFormatDesc *channels, struct cudaExtent extent,
                            unsigned flags)
{
    struct driver_array3d_descriptor what;
    cudaError_t failed = describe(channels, extent, flags, &what);
    return failed ? failed : cuArray3DCreate_v2(array, (void *)&what);
}

EXPORT cudaError_t cudaMallocArray(CUarray *, const struct cudaChannelFormatDesc *, size_t, size_t, unsigned);
EXPORT cudaError_t cudaMallocArray(CUarray *array, const struct cudaChannelFormatDesc *channels, size_t width,
                                   size_t height, unsigned flags)
{
    cudaError_t failed = enter();
    return failed ? failed : keep(allocate(array, channels, (struct cudaExtent){width, height, 0}, flags));
}

EXPORT cudaError_t cudaMalloc3DArray(CUarray *, const struct cudaChannelFormatDesc *, struct cudaExtent, unsigned);
EXPORT cudaError_t cudaMalloc3DArray(CUarray *array, const struct cudaChannelFormatDesc *channels,
                                     struct cudaExtent extent, unsigned flags)
{
    cudaError_t failed = enter();
    return failed ? failed : keep(allocate(array, channels, extent, flags));
}

EXPORT cudaError_t cudaMallocMipmappedArray(CUmipmappedArray *, const struct cudaChannelFormatDesc *, struct cudaExtent,
                                            unsigned, unsigned);
EXPORT cudaError_t cudaMallocMipmappedArray(CUmipmappedArray *array, const struct cudaChannelFormatDesc *channels,
                                            struct cudaExtent extent, unsigned levels, unsigned flags)
{
    struct driver_array3d_descriptor what;
    cudaError_t failed = enter();
    if (failed)
        return failed;
    failed = describe(channels, extent, flags, &what);
    return keep(failed ? failed : cuMipmappedArrayCreate(array, (void *)&what, levels));
}

FORWARD(cudaFreeArray, cuArrayDestroy, (CUarray array), (array))
FORWARD(cudaFreeMipmappedArray, cuMipmappedArrayDestroy, (CUmipmappedArray array), (array))
FORWARD(cudaGetMipmappedArrayLevel, cuMipmappedArrayGetLevel,
        (CUarray * level, CUmipmappedArray array, unsigned number), (level, array, number))
FORWARD(cudaArrayGetPlane, cuArrayGetPlane, (CUarray * plane, CUarray array, unsigned number), (plane, array, number))

EXPORT cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *, struct cudaExtent *, unsigned *, CUarray);
EXPORT cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channels, struct cudaExtent *extent, unsigned *flags,
                                    CUarray array)
{
    struct driver_array3d_descriptor found;
    cudaError_t failed = enter();
    if (!failed)
        failed = keep(cuArray3DGetDescriptor_v2((void *)&found, array));
    if (failed)
        return failed;
    if (channels)
        channel_description(found.format, found.channels, channels);
    if (extent)
        *extent = (struct cudaExtent){found.width, found.height, found.depth};
    if (flags)
        *flags = found.flags;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *channels, CUarray array);
EXPORT cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *channels, CUarray array)
{
    return channels ? cudaArrayGetInfo(channels, NULL, NULL, array) : keep(cudaErrorInvalidValue);
}

EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, int kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}
