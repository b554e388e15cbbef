/* Arrays, textures and surfaces: odd extents, and what they show freed. */
#include "odd.h"

static CUarray array_of(size_t width, size_t height, size_t depth, unsigned flags)
{
    CUarray array = NULL;
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = width, .Height = height, .Depth = depth, .Flags = flags};
    shape.Format = CU_AD_FORMAT_FLOAT;
    shape.NumChannels = 1;
    CALL(cuArray3DCreate, &array, &shape);
    return array;
}

static void arrays_of_odd_extents(void)
{
    array_of(0, 0, 0, 0);
    array_of(~(size_t)0, 1, 0, 0);
    array_of((size_t)1 << 40, (size_t)1 << 40, (size_t)1 << 40, 0);
    array_of(16, 0, 16, 0);
    array_of(16, 16, 7, CUDA_ARRAY3D_CUBEMAP);
    array_of(16, 15, 6, CUDA_ARRAY3D_CUBEMAP);
    array_of(16, 16, 0, CUDA_ARRAY3D_LAYERED);
    array_of(16, 16, ~(size_t)0, CUDA_ARRAY3D_LAYERED);
    array_of(16, 16, 16, ~0u);
    for (int bit = 0; bit < 12; bit++)
        array_of(64, 64, 0, 1u << bit);
}

static void arrays_of_odd_formats(void)
{
    CUarray array;
    for (unsigned format = 0; format < 0x110; format += 5) {
        CUDA_ARRAY_DESCRIPTOR shape = {.Width = 16, .Height = 16, .Format = format, .NumChannels = format % 6};
        CALL(cuArrayCreate, &array, &shape);
    }
}

static void array_destroyed_twice(void)
{
    CUDA_ARRAY3D_DESCRIPTOR shape;
    CUDA_ARRAY_SPARSE_PROPERTIES sparse;
    CUDA_ARRAY_MEMORY_REQUIREMENTS needs;
    CUarray plane, array = array_of(64, 64, 0, 0);
    CALL(cuArrayGetPlane, &plane, array, 77);
    CALL(cuArrayGetSparseProperties, &sparse, array);
    CALL(cuArrayGetMemoryRequirements, &needs, array, the.device);
    CALL(cuArrayDestroy, array);
    CALL(cuArray3DGetDescriptor, &shape, array);
    CALL(cuArrayDestroy, array);
}

static void array_copied_beyond_its_end(void)
{
    CUarray array = array_of(64, 64, 0, 0);
    CALL(cuMemcpyHtoA, array, ~(size_t)0, the.pinned, 16);
    CALL(cuMemcpyHtoA, array, 0, the.pinned, (size_t)1 << 40);
    CALL(cuMemcpyAtoA, array, 0, array, 16, 64);
    CALL(cuMemcpyAtoD, the.memory, array, 250, 64);
    CUDA_MEMCPY3D copy = odd_copy_params();
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.WidthInBytes = 256;
    copy.Height = 64;
    copy.Depth = 2;
    CALL(cuMemcpy3D, &copy);
    copy.Depth = 1;
    copy.srcY = ~(size_t)0;
    CALL(cuMemcpy3D, &copy);
    copy.srcY = 0;
    copy.srcXInBytes = 3;
    CALL(cuMemcpy3D, &copy);
}

static void mipmaps_of_odd_levels(void)
{
    static const unsigned levels[] = {0, 1, 7, 8, 1000, ~0u};
    CUDA_ARRAY3D_DESCRIPTOR shape = {.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUmipmappedArray mipmap;
    CUarray level = NULL;
    for (int at = 0; at < 6; at++)
        if (CALL(cuMipmappedArrayCreate, &mipmap, &shape, levels[at]) == CUDA_SUCCESS) {
            CALL(cuMipmappedArrayGetLevel, &level, mipmap, ~0u);
            CALL(cuMipmappedArrayGetLevel, &level, mipmap, 0);
            CALL(cuArrayDestroy, level);
            CALL(cuMipmappedArrayDestroy, mipmap);
            CALL(cuArray3DGetDescriptor, &shape, level);
            shape = (CUDA_ARRAY3D_DESCRIPTOR){.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
        }
    shape.Width = shape.Height = 0;
    CALL(cuMipmappedArrayCreate, &mipmap, &shape, 3);
}

static void textures_of_destroyed_arrays(void)
{
    CUtexObject texture = 0;
    CUDA_RESOURCE_DESC shown = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC how = {0};
    shown.res.array.hArray = array_of(64, 64, 0, 0);
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    CALL(cuArrayDestroy, shown.res.array.hArray);
    CALL(cuTexObjectGetResourceDesc, &shown, texture);
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    CALL(cuTexObjectDestroy, texture);
    CALL(cuTexObjectDestroy, texture);
    CALL(cuTexObjectGetTextureDesc, &how, texture);
}

static void textures_of_odd_memory(void)
{
    CUtexObject texture;
    CUDA_RESOURCE_DESC shown = {.resType = CU_RESOURCE_TYPE_LINEAR};
    CUDA_TEXTURE_DESC how = {0};
    shown.res.linear.devPtr = the.memory;
    shown.res.linear.format = CU_AD_FORMAT_FLOAT;
    shown.res.linear.numChannels = 1;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    shown.res.linear.sizeInBytes = ~(size_t)0;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    shown.res.linear.sizeInBytes = 3;
    shown.res.linear.numChannels = 3;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    shown.res.linear.devPtr = the.memory + 1;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    shown = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_PITCH2D};
    shown.res.pitch2D.devPtr = the.memory;
    shown.res.pitch2D.format = CU_AD_FORMAT_FLOAT;
    shown.res.pitch2D.numChannels = 1;
    shown.res.pitch2D.width = shown.res.pitch2D.height = 64;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    shown.res.pitch2D.pitchInBytes = ~(size_t)0 - 31;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    shown.resType = 77;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
}

static void textures_of_odd_views(void)
{
    CUtexObject texture;
    CUDA_RESOURCE_DESC shown = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC how = {.filterMode = 77, .flags = ~0u, .maxAnisotropy = ~0u};
    CUDA_RESOURCE_VIEW_DESC view = {.format = 0x7f, .width = ~(size_t)0, .firstMipmapLevel = ~0u, .lastLayer = ~0u};
    shown.res.array.hArray = array_of(64, 64, 0, 0);
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    memset(&how, 0, sizeof how);
    CALL(cuTexObjectCreate, &texture, &shown, &how, &view);
    how.addressMode[0] = 77;
    CALL(cuTexObjectCreate, &texture, &shown, &how, NULL);
    shown.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    shown.res.mipmap.hMipmappedArray = NULL;
    CALL(cuTexObjectCreate, &texture, &shown, &how, &view);
}

static void surfaces_odd(void)
{
    CUsurfObject surface = 0;
    CUDA_RESOURCE_DESC shown = {.resType = CU_RESOURCE_TYPE_ARRAY};
    shown.res.array.hArray = array_of(64, 64, 0, 0);
    CALL(cuSurfObjectCreate, &surface, &shown);
    CALL(cuArrayDestroy, shown.res.array.hArray);
    CALL(cuSurfObjectGetResourceDesc, &shown, surface);
    CALL(cuSurfObjectDestroy, surface);
    CALL(cuSurfObjectDestroy, surface);
    shown = (CUDA_RESOURCE_DESC){.resType = CU_RESOURCE_TYPE_LINEAR};
    shown.res.linear.devPtr = the.memory;
    CALL(cuSurfObjectCreate, &surface, &shown);
}

static void tensor_maps_odd(void)
{
    static CUtensorMap map;
    cuuint64_t extents[5] = {~0ull, ~0ull, 0, 0, 0}, strides[5] = {16, ~0ull, 1, 0, 0};
    cuuint32_t box[5] = {~0u, 0, 1, 1, 1}, steps[5] = {0, ~0u, 1, 1, 1};
    void *memory = (void *)(uintptr_t)the.memory;
    for (unsigned rank = 0; rank < 7; rank++)
        CALL(cuTensorMapEncodeTiled, &map, 0, rank > 5 ? 77 : rank, memory, extents, strides, box, steps, 0, 0, 0, 0);
    CALL(cuTensorMapEncodeTiled, &map, 77, 2, memory, extents, strides, box, steps, 77, 77, 77, 77);
    CALL(cuTensorMapReplaceAddress, &map, memory);
    CALL(cuTensorMapReplaceAddress, &map, NULL);
}

const struct odd_case odd_arrays[] = {
    ODD_CASE(arrays_of_odd_extents, "arrays of no and of huge extents, with each flag"),
    ODD_CASE(arrays_of_odd_formats, "arrays of odd formats and channels"),
    ODD_CASE(array_destroyed_twice, "an array is asked and destroyed after it was destroyed"),
    ODD_CASE(array_copied_beyond_its_end, "copies from and to an array beyond its end"),
    ODD_CASE(mipmaps_of_odd_levels, "mipmaps of odd levels, and a level that is destroyed"),
    ODD_CASE(textures_of_destroyed_arrays, "a texture of an array that is destroyed"),
    ODD_CASE(textures_of_odd_memory, "textures of linear memory of odd sizes"),
    ODD_CASE(textures_of_odd_views, "textures of odd views and filters"),
    ODD_CASE(surfaces_odd, "surfaces of a destroyed array and of linear memory"),
    ODD_CASE(tensor_maps_odd, "tensor maps of odd ranks, extents and strides"),
    {0},
};
