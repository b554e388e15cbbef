/* Texture and surface objects. */
#include <string.h>

#include "runtime.h"

/* cudaResourceDesc; cudaResourceType and CUresourcetype have the same numbers. */
struct runtime_resource {
    int type;
    union {
        CUarray array;
        CUmipmappedArray mipmap;
        struct {
            void *memory;
            struct cudaChannelFormatDesc channels;
            size_t bytes;
        } linear;
        struct {
            void *memory;
            struct cudaChannelFormatDesc channels;
            size_t width, height, pitch;
        } pitch2d;
    } of;
};

/* CUDA_RESOURCE_DESC */
struct driver_resource {
    int type;
    union {
        CUarray array;
        CUmipmappedArray mipmap;
        struct {
            CUdeviceptr memory;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            CUdeviceptr memory;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitch2d;
        int reserved[32];
    } of;
    unsigned flags;
};
_Static_assert(sizeof(struct driver_resource) == 144, "CUDA_RESOURCE_DESC");

/* cudaTextureDesc */
struct runtime_texture {
    int address_mode[3];
    int filter_mode;
    int read_mode;
    int srgb;
    float border[4];
    int normalised;
    unsigned anisotropy;
    int mipmap_filter_mode;
    float mipmap_bias, mipmap_least, mipmap_most;
    int no_trilinear_optimisation;
    int seamless;
};

/* CUDA_TEXTURE_DESC */
struct driver_texture {
    int address_mode[3];
    int filter_mode;
    unsigned flags;
    unsigned anisotropy;
    int mipmap_filter_mode;
    float mipmap_bias, mipmap_least, mipmap_most;
    float border[4];
    int reserved[12];
};
_Static_assert(sizeof(struct driver_texture) == 104, "CUDA_TEXTURE_DESC");

static cudaError_t to_driver(const struct runtime_resource *from, struct driver_resource *to)
{
    bool known = true;
    if (!from)
        return cudaErrorInvalidValue;
    memset(to, 0, sizeof *to);
    to->type = from->type;
    switch (from->type) {
    case CU_RESOURCE_TYPE_ARRAY:
        to->of.array = from->of.array;
        break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        to->of.mipmap = from->of.mipmap;
        break;
    case CU_RESOURCE_TYPE_LINEAR:
        to->of.linear.memory = (CUdeviceptr)(uintptr_t)from->of.linear.memory;
        to->of.linear.bytes = from->of.linear.bytes;
        known = channel_format(&from->of.linear.channels, &to->of.linear.format, &to->of.linear.channels);
        break;
    case CU_RESOURCE_TYPE_PITCH2D:
        to->of.pitch2d.memory = (CUdeviceptr)(uintptr_t)from->of.pitch2d.memory;
        to->of.pitch2d.width = from->of.pitch2d.width;
        to->of.pitch2d.height = from->of.pitch2d.height;
        to->of.pitch2d.pitch = from->of.pitch2d.pitch;
        known = channel_format(&from->of.pitch2d.channels, &to->of.pitch2d.format, &to->of.pitch2d.channels);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return known ? cudaSuccess : 20 /* invalid channel descriptor */;
}

static void from_driver(const struct driver_resource *from, struct runtime_resource *to)
{
    memset(to, 0, sizeof *to);
    to->type = from->type;
    if (from->type == CU_RESOURCE_TYPE_ARRAY) {
        to->of.array = from->of.array;
    } else if (from->type == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
        to->of.mipmap = from->of.mipmap;
    } else if (from->type == CU_RESOURCE_TYPE_LINEAR) {
        to->of.linear.memory = (void *)(uintptr_t)from->of.linear.memory;
        to->of.linear.bytes = from->of.linear.bytes;
        channel_description(from->of.linear.format, from->of.linear.channels, &to->of.linear.channels);
    } else {
        to->of.pitch2d.memory = (void *)(uintptr_t)from->of.pitch2d.memory;
        to->of.pitch2d.width = from->of.pitch2d.width;
        to->of.pitch2d.height = from->of.pitch2d.height;
        to->of.pitch2d.pitch = from->of.pitch2d.pitch;
        channel_description(from->of.pitch2d.format, from->of.pitch2d.channels, &to->of.pitch2d.channels);
    }
}

EXPORT cudaError_t cudaCreateTextureObject(unsigned long long *, const struct runtime_resource *,
                                           const struct runtime_texture *, const void *);
EXPORT cudaError_t cudaCreateTextureObject(unsigned long long *object, const struct runtime_resource *resource,
                                           const struct runtime_texture *texture, const void *view)
{
    struct driver_resource what;
    cudaError_t failed = enter();
    if (failed)
        return failed;
    failed = texture ? to_driver(resource, &what) : cudaErrorInvalidValue;
    if (failed)
        return keep(failed);
    struct driver_texture how = {
        .filter_mode = texture->filter_mode,
        .flags = (texture->read_mode == 0 ? CU_TRSF_READ_AS_INTEGER : 0u) |
                 (texture->normalised ? CU_TRSF_NORMALIZED_COORDINATES : 0u) | (texture->srgb ? CU_TRSF_SRGB : 0u) |
                 (texture->no_trilinear_optimisation ? CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION : 0u) |
                 (texture->seamless ? CU_TRSF_SEAMLESS_CUBEMAP : 0u),
        .anisotropy = texture->anisotropy,
        .mipmap_filter_mode = texture->mipmap_filter_mode,
        .mipmap_bias = texture->mipmap_bias,
        .mipmap_least = texture->mipmap_least,
        .mipmap_most = texture->mipmap_most,
    };
    memcpy(how.address_mode, texture->address_mode, sizeof how.address_mode);
    memcpy(how.border, texture->border, sizeof how.border);
    return keep(cuTexObjectCreate((void *)object, (void *)&what, (void *)&how, (void *)view));
}

FORWARD(cudaDestroyTextureObject, cuTexObjectDestroy, (unsigned long long object), (object))
FORWARD(cudaDestroySurfaceObject, cuSurfObjectDestroy, (unsigned long long object), (object))
FORWARD(cudaGetTextureObjectResourceViewDesc, cuTexObjectGetResourceViewDesc, (void *view, unsigned long long object),
        (view, object))

EXPORT cudaError_t cudaCreateSurfaceObject(unsigned long long *object, const struct runtime_resource *resource);
EXPORT cudaError_t cudaCreateSurfaceObject(unsigned long long *object, const struct runtime_resource *resource)
{
    struct driver_resource what;
    cudaError_t failed = enter();
    if (failed)
        return failed;
    failed = to_driver(resource, &what);
    return keep(failed ? failed : cuSurfObjectCreate((void *)object, (void *)&what));
}

#define RESOURCE_OF(name, driver)                                                                                      \
    EXPORT cudaError_t name(struct runtime_resource *, unsigned long long);                                            \
    EXPORT cudaError_t name(struct runtime_resource *resource, unsigned long long object)                              \
    {                                                                                                                  \
        struct driver_resource found;                                                                                  \
        cudaError_t failed = enter();                                                                                  \
        if (!failed)                                                                                                   \
            failed = keep(resource ? driver((void *)&found, object) : cudaErrorInvalidValue);                          \
        if (!failed)                                                                                                   \
            from_driver(&found, resource);                                                                             \
        return failed;                                                                                                 \
    }

RESOURCE_OF(cudaGetTextureObjectResourceDesc, cuTexObjectGetResourceDesc)
RESOURCE_OF(cudaGetSurfaceObjectResourceDesc, cuSurfObjectGetResourceDesc)

EXPORT cudaError_t cudaGetTextureObjectTextureDesc(struct runtime_texture *texture, unsigned long long object);
EXPORT cudaError_t cudaGetTextureObjectTextureDesc(struct runtime_texture *texture, unsigned long long object)
{
    struct driver_texture how;
    cudaError_t failed = enter();
    if (!failed)
        failed = keep(texture ? cuTexObjectGetTextureDesc((void *)&how, object) : cudaErrorInvalidValue);
    if (failed)
        return failed;
    *texture = (struct runtime_texture){
        .filter_mode = how.filter_mode,
        .read_mode = how.flags & CU_TRSF_READ_AS_INTEGER ? 0 : 1,
        .srgb = (how.flags & CU_TRSF_SRGB) != 0,
        .normalised = (how.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0,
        .anisotropy = how.anisotropy,
        .mipmap_filter_mode = how.mipmap_filter_mode,
        .mipmap_bias = how.mipmap_bias,
        .mipmap_least = how.mipmap_least,
        .mipmap_most = how.mipmap_most,
        .no_trilinear_optimisation = (how.flags & CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION) != 0,
        .seamless = (how.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0,
    };
    memcpy(texture->address_mode, how.address_mode, sizeof texture->address_mode);
    memcpy(texture->border, how.border, sizeof texture->border);
    return cudaSuccess;
}
