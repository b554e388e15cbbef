/* Copies of rectangles and volumes, between memory and arrays. */
#include "runtime.h"

#define DEVICE(pointer) ((CUdeviceptr)(uintptr_t)(pointer))

/* One side of CUDA_MEMCPY2D_v2. */
struct side2d {
    size_t x, y;
    int type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    size_t pitch;
};
struct copy2d {
    struct side2d from, to;
    size_t width, height;
};

/* One side of CUDA_MEMCPY3D_v2. */
struct side3d {
    size_t x, y, z, lod;
    int type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    void *reserved;
    size_t pitch, height;
};
struct copy3d {
    struct side3d from, to;
    size_t width, height, depth;
};
_Static_assert(sizeof(struct copy2d) == 128, "CUDA_MEMCPY2D");
_Static_assert(sizeof(struct copy3d) == 200, "CUDA_MEMCPY3D");

static bool types(int kind, int *from, int *to)
{
    static const int sides[][2] = {
        [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
        [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
        [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
        [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
    };
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return false;
    *from = sides[kind][0];
    *to = sides[kind][1];
    return true;
}

static struct side2d linear(const void *memory, size_t pitch, int type)
{
    return (struct side2d){.type = type, .host = memory, .device = DEVICE(memory), .pitch = pitch};
}

static struct side2d in_array(CUarray array, size_t x, size_t y)
{
    return (struct side2d){.x = x, .y = y, .type = CU_MEMORYTYPE_ARRAY, .array = array};
}

static cudaError_t rectangle(struct side2d from, struct side2d to, size_t width, size_t height, CUstream stream,
                             bool wait)
{
    struct copy2d what = {.from = from, .to = to, .width = width, .height = height};
    if (!width || !height)
        return cudaSuccess;
    if (wait && !stream)
        return cuMemcpy2DUnaligned_v2((void *)&what);
    cudaError_t failed = cuMemcpy2DAsync_v2((void *)&what, stream);
    return failed || !wait ? failed : cuStreamSynchronize(stream);
}

static cudaError_t rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                        int kind, CUstream stream, bool wait)
{
    int from_type, to_type;
    if (!types(kind, &from_type, &to_type))
        return cudaErrorInvalidMemcpyDirection;
    return rectangle(linear(from, from_pitch, from_type), linear(to, to_pitch, to_type), width, height, stream, wait);
}

static cudaError_t rows_to_array(CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                 size_t height, int kind, CUstream stream, bool wait)
{
    int from_type, to_type;
    if (!types(kind, &from_type, &to_type))
        return cudaErrorInvalidMemcpyDirection;
    return rectangle(linear(from, pitch, from_type), in_array(to, x, y), width, height, stream, wait);
}

static cudaError_t rows_from_array(void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width,
                                   size_t height, int kind, CUstream stream, bool wait)
{
    int from_type, to_type;
    if (!types(kind, &from_type, &to_type))
        return cudaErrorInvalidMemcpyDirection;
    return rectangle(in_array(from, x, y), linear(to, pitch, to_type), width, height, stream, wait);
}

ON_DEFAULT(cudaMemcpy2D,
           (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind),
           rows(to, to_pitch, from, from_pitch, width, height, kind, stream, true))
ON_STREAM(cudaMemcpy2DAsync,
          (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int kind,
           CUstream stream),
          rows(to, to_pitch, from, from_pitch, width, height, kind, stream, false))
ON_DEFAULT(cudaMemcpy2DToArray,
           (CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind),
           rows_to_array(to, x, y, from, pitch, width, height, kind, stream, true))
ON_STREAM(cudaMemcpy2DToArrayAsync,
          (CUarray to, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int kind,
           CUstream stream),
          rows_to_array(to, x, y, from, pitch, width, height, kind, stream, false))
ON_DEFAULT(cudaMemcpy2DFromArray,
           (void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width, size_t height, int kind),
           rows_from_array(to, pitch, from, x, y, width, height, kind, stream, true))
ON_STREAM(cudaMemcpy2DFromArrayAsync,
          (void *to, size_t pitch, CUarray from, size_t x, size_t y, size_t width, size_t height, int kind,
           CUstream stream),
          rows_from_array(to, pitch, from, x, y, width, height, kind, stream, false))
ON_DEFAULT(cudaMemcpy2DArrayToArray,
           (CUarray to, size_t to_x, size_t to_y, CUarray from, size_t from_x, size_t from_y, size_t width,
            size_t height, int kind),
           ((void)kind, rectangle(in_array(from, from_x, from_y), in_array(to, to_x, to_y), width, height, stream, true)))

/* ---- Bytes to and from arrays: the deprecated calls continue at the start of the next row ------------------------- */

/* A part of such a copy: the rest of a row that was begun, whole rows, or the begin of a row. */
struct part {
    size_t x, y, width, height;
};

/* Up to three parts; 0: `bytes` do not begin within a row, or the driver does not say how long a row is. */
static int parts_of(CUarray array, size_t x, size_t y, size_t bytes, struct part parts[3])
{
    size_t row = array_row_bytes(array);
    int count = 0;
    if (!row || x >= row)
        return 0;
    if (x) {
        size_t width = bytes < row - x ? bytes : row - x;
        parts[count++] = (struct part){x, y++, width, 1};
        bytes -= width;
    }
    if (bytes >= row) {
        parts[count++] = (struct part){0, y, row, bytes / row};
        y += bytes / row;
        bytes %= row;
    }
    if (bytes)
        parts[count++] = (struct part){0, y, bytes, 1};
    return count;
}

static cudaError_t bytes_to_array(CUarray to, size_t x, size_t y, const char *from, size_t bytes, int kind,
                                  CUstream stream, bool wait)
{
    struct part parts[3];
    int count = bytes ? parts_of(to, x, y, bytes, parts) : 0;
    cudaError_t failed = bytes && !count ? cudaErrorInvalidValue : cudaSuccess;
    for (int i = 0; i < count && !failed; i++) {
        struct part p = parts[i];
        failed = rows_to_array(to, p.x, p.y, from, p.width, p.width, p.height, kind, stream, wait);
        from += p.width * p.height;
    }
    return failed;
}

static cudaError_t bytes_from_array(char *to, CUarray from, size_t x, size_t y, size_t bytes, int kind, CUstream stream,
                                    bool wait)
{
    struct part parts[3];
    int count = bytes ? parts_of(from, x, y, bytes, parts) : 0;
    cudaError_t failed = bytes && !count ? cudaErrorInvalidValue : cudaSuccess;
    for (int i = 0; i < count && !failed; i++) {
        struct part p = parts[i];
        failed = rows_from_array(to, p.width, from, p.x, p.y, p.width, p.height, kind, stream, wait);
        to += p.width * p.height;
    }
    return failed;
}

ON_DEFAULT(cudaMemcpyToArray, (CUarray to, size_t x, size_t y, const void *from, size_t bytes, int kind),
           bytes_to_array(to, x, y, from, bytes, kind, stream, true))
ON_DEFAULT(cudaMemcpyFromArray, (void *to, CUarray from, size_t x, size_t y, size_t bytes, int kind),
           bytes_from_array(to, from, x, y, bytes, kind, stream, true))
ON_STREAM(cudaMemcpyToArrayAsync,
          (CUarray to, size_t x, size_t y, const void *from, size_t bytes, int kind, CUstream stream),
          bytes_to_array(to, x, y, from, bytes, kind, stream, false))
ON_STREAM(cudaMemcpyFromArrayAsync,
          (void *to, CUarray from, size_t x, size_t y, size_t bytes, int kind, CUstream stream),
          bytes_from_array(to, from, x, y, bytes, kind, stream, false))

/* ---- Volumes ------------------------------------------------------------------------------------------------------ */

/* cudaMemcpy3DParms */
struct runtime_copy3d {
    CUarray from_array;
    struct cudaPos from_position;
    struct cudaPitchedPtr from;
    CUarray to_array;
    struct cudaPos to_position;
    struct cudaPitchedPtr to;
    struct cudaExtent extent;
    int kind;
};

static struct side3d side(CUarray array, struct cudaPos at, struct cudaPitchedPtr memory, int type, size_t element)
{
    struct side3d found = {.x = at.x * (array ? element : 1), .y = at.y, .z = at.z};
    if (array) {
        found.type = CU_MEMORYTYPE_ARRAY;
        found.array = array;
    } else {
        found.type = type;
        found.host = memory.ptr;
        found.device = DEVICE(memory.ptr);
        found.pitch = memory.pitch;
        found.height = memory.ysize;
    }
    return found;
}

/* Where an array takes part, widths and its positions count elements; else bytes. */
static cudaError_t describe_volume(const struct runtime_copy3d *from, struct copy3d *what)
{
    int from_type, to_type;
    if (!from)
        return cudaErrorInvalidValue;
    if (!types(from->kind, &from_type, &to_type))
        return cudaErrorInvalidMemcpyDirection;
    CUarray array = from->from_array ? from->from_array : from->to_array;
    size_t element = array ? array_element_bytes(array) : 1;
    if (!element)
        return cudaErrorInvalidValue;
    *what = (struct copy3d){
        .from = side(from->from_array, from->from_position, from->from, from_type, element),
        .to = side(from->to_array, from->to_position, from->to, to_type, element),
        .width = from->extent.width * element,
        .height = from->extent.height,
        .depth = from->extent.depth,
    };
    return cudaSuccess;
}

static cudaError_t volume(const struct runtime_copy3d *from, CUstream stream, bool wait)
{
    struct copy3d what;
    cudaError_t failed = describe_volume(from, &what);
    if (failed || !what.width || !what.height || !what.depth)
        return failed;
    if (wait && !stream)
        return cuMemcpy3D_v2((void *)&what);
    failed = cuMemcpy3DAsync_v2((void *)&what, stream);
    return failed || !wait ? failed : cuStreamSynchronize(stream);
}

ON_DEFAULT(cudaMemcpy3D, (const struct runtime_copy3d *what), volume(what, stream, true))
ON_STREAM(cudaMemcpy3DAsync, (const struct runtime_copy3d *what, CUstream stream), volume(what, stream, false))

/* ---- Copies as nodes of a graph ------------------------------------------------------------------------------------ */

static cudaError_t add_copy(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                            const struct runtime_copy3d *from)
{
    struct copy3d what;
    CUcontext context = NULL;
    cudaError_t failed = describe_volume(from, &what);
    if (!failed)
        failed = cuCtxGetCurrent(&context);
    return failed ? failed : cuGraphAddMemcpyNode(node, graph, (void *)after, count, (void *)&what, context);
}

EXPORT cudaError_t cudaGraphAddMemcpyNode(CUgraphNode *, CUgraph, const CUgraphNode *, size_t,
                                          const struct runtime_copy3d *);
EXPORT cudaError_t cudaGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                          const struct runtime_copy3d *from)
{
    cudaError_t failed = enter();
    return failed ? failed : keep(add_copy(node, graph, after, count, from));
}

EXPORT cudaError_t cudaGraphAddMemcpyNode1D(CUgraphNode *, CUgraph, const CUgraphNode *, size_t, void *, const void *,
                                            size_t, int);
EXPORT cudaError_t cudaGraphAddMemcpyNode1D(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t count,
                                            void *to, const void *from, size_t bytes, int kind)
{
    struct runtime_copy3d what = {
        .from = {(void *)(uintptr_t)from, bytes, bytes, 1},
        .to = {to, bytes, bytes, 1},
        .extent = {bytes, 1, 1},
        .kind = kind,
    };
    cudaError_t failed = enter();
    return failed ? failed : keep(add_copy(node, graph, after, count, &what));
}
