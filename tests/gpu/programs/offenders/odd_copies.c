/* Copies, fills, host memory and pointers: odd sizes and pitches, and ranges that overlap or are gone. */
#include <stdlib.h>
#include <sys/mman.h>

#include "odd.h"

enum { PAGES = 65536 };

static void *pages_of(int protection)
{
    return mmap(NULL, PAGES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static CUDA_MEMCPY2D plane(void)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE};
    copy.srcDevice = the.memory;
    copy.dstDevice = the.other_memory;
    copy.WidthInBytes = 64;
    copy.Height = 16;
    copy.srcPitch = copy.dstPitch = 64;
    return copy;
}

static void plane_pitches_overflow(void)
{
    CUDA_MEMCPY2D copy = plane();
    copy.srcPitch = ~(size_t)0 / 8;
    CALL(cuMemcpy2D, &copy);
    CALL(cuMemcpy2DUnaligned, &copy);
    CALL(cuMemcpy2DAsync, &copy, the.stream);
    copy = plane();
    copy.Height = ~(size_t)0 / 64 + 2;
    CALL(cuMemcpy2D, &copy);
    CALL(cuMemcpy2DUnaligned, &copy);
    copy = plane();
    copy.srcY = copy.dstY = (size_t)1 << 58;
    CALL(cuMemcpy2D, &copy);
    CALL(cuMemcpy2DUnaligned, &copy);
}

static void plane_of_odd_sizes(void)
{
    CUDA_MEMCPY2D copy = plane();
    copy.WidthInBytes = 0;
    CALL(cuMemcpy2D, &copy);
    copy = plane();
    copy.Height = 0;
    CALL(cuMemcpy2D, &copy);
    copy = plane();
    copy.srcPitch = 1;
    CALL(cuMemcpy2D, &copy);
    CALL(cuMemcpy2DUnaligned, &copy);
    copy = plane();
    copy.srcPitch = copy.dstPitch = 0;
    CALL(cuMemcpy2D, &copy);
    copy = plane();
    copy.srcMemoryType = 77;
    CALL(cuMemcpy2D, &copy);
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    CALL(cuMemcpy2D, &copy);
    copy = plane();
    copy.srcXInBytes = ~(size_t)0 - 31;
    CALL(cuMemcpy2D, &copy);
}

static void block_pitches_overflow(void)
{
    CUDA_MEMCPY3D copy = odd_copy_params();
    copy.WidthInBytes = 16;
    copy.Height = copy.Depth = (size_t)1 << 32;
    copy.srcPitch = copy.dstPitch = 16;
    copy.srcHeight = copy.dstHeight = (size_t)1 << 32;
    CALL(cuMemcpy3D, &copy);
    CALL(cuMemcpy3DAsync, &copy, the.stream);
    copy = odd_copy_params();
    copy.WidthInBytes = copy.Height = copy.Depth = 2;
    copy.srcPitch = copy.dstPitch = (size_t)1 << 63;
    copy.srcHeight = copy.dstHeight = 2;
    CALL(cuMemcpy3D, &copy);
    copy = odd_copy_params();
    copy.srcZ = copy.dstZ = ~(size_t)0;
    copy.srcLOD = 77;
    CALL(cuMemcpy3D, &copy);
    CUDA_MEMCPY3D_PEER peer = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .dstMemoryType = CU_MEMORYTYPE_DEVICE};
    peer.WidthInBytes = peer.Height = peer.Depth = 4;
    CALL(cuMemcpy3DPeer, &peer);
}

static void copies_overlap(void)
{
    CALL(cuMemcpyDtoD, the.memory + 1, the.memory, 65536);
    CALL(cuMemcpyDtoDAsync, the.memory, the.memory, 65536, the.stream);
    CALL(cuMemcpy, the.memory, the.memory + 16, 65536);
    CALL(cuMemcpyPeer, the.memory, the.context, the.memory + 16, the.context, 65536);
    CALL(cuMemcpyPeerAsync, the.memory, the.context, the.memory, the.context, 0, the.stream);
    CALL(cuMemcpyDtoD, the.memory, the.other_memory, 0);
}

static void copies_of_odd_sizes(void)
{
    CALL(cuMemcpyDtoD, the.memory, the.other_memory, ~(size_t)0);
    CALL(cuMemcpyDtoD, the.memory, the.other_memory, ODD_BYTES + 1);
    CALL(cuMemcpyHtoD, the.memory, the.pinned, (size_t)1 << 62);
    CALL(cuMemcpyDtoH, the.pinned, the.memory, ODD_BYTES + 1);
    CALL(cuMemcpyHtoDAsync, the.memory, the.pinned, ~(size_t)0, the.stream);
}

static void copies_to_odd_host_pages(void)
{
    void *read_only = pages_of(PROT_READ);
    CALL(cuMemcpyDtoHAsync, the.pinned, (CUdeviceptr)(uintptr_t)the.pinned, 4096, the.stream);
    CALL(cuMemcpyHtoD, the.memory, read_only, PAGES);
    CALL(cuMemcpyHtoD, (CUdeviceptr)(uintptr_t)the.pinned, the.pinned, 4096);
}

static void copies_of_memory_freed_meanwhile(void)
{
    odd_keep_busy(the.stream, 100);
    CALL(cuMemcpyDtoDAsync, the.memory, the.other_memory, ODD_BYTES, the.stream);
    CALL(cuMemcpyDtoHAsync, the.pinned, the.memory, ODD_BYTES, the.stream);
    CALL(cuMemFree, the.other_memory);
    CALL(cuMemFreeHost, the.pinned);
    CALL(cuStreamSynchronize, the.stream);
}

static void batches_of_copies_odd(void)
{
    CUdeviceptr to[] = {the.memory, the.memory}, from[] = {the.other_memory, the.memory};
    size_t sizes[] = {0, ~(size_t)0}, indices[] = {77, 3}, small[] = {16, 16};
    CUmemcpyAttributes attributes[2] = {0};
    CALL(cuMemcpyBatchAsync, to, from, sizes, 2, attributes, indices, 1, the.stream);
    indices[0] = 0;
    CALL(cuMemcpyBatchAsync, to, from, sizes, 2, attributes, indices, 1, the.stream);
    attributes[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CALL(cuMemcpyBatchAsync, to, from, small, 2, attributes, indices, 2, the.stream);
    CALL(cuMemcpyBatchAsync, to, from, small, 2, attributes, indices, 1, the.stream);
    CALL(cuMemcpyBatchAsync, to, from, small, 0, attributes, indices, 0, the.stream);
}

static void fills_of_odd_sizes(void)
{
    CALL(cuMemsetD8, the.memory, 0, 0);
    CALL(cuMemsetD8, the.memory, 0, ~(size_t)0);
    CALL(cuMemsetD32, the.memory, 0, (size_t)1 << 62);
    CALL(cuMemsetD32, the.memory + 1, 0, 4);
    CALL(cuMemsetD2D32, the.memory, 3, 0, 4, 4);
    CALL(cuMemsetD2D8, the.memory, ~(size_t)0, 0, 4, 4);
    CALL(cuMemsetD2D8, the.memory, 64, 0, 0, 0);
    CALL(cuMemsetD2D8, the.memory, 64, 0, 64, ~(size_t)0);
    CALL(cuMemsetD2D16Async, the.memory, (size_t)1 << 63, 0, 4, 3, the.stream);
}

static void memory_freed_oddly(void)
{
    CALL(cuMemFree, the.memory + 256);
    CALL(cuMemFree, the.memory);
    CALL(cuMemFree, the.memory);
    CALL(cuMemFree, 0);
    CALL(cuMemFree, (CUdeviceptr)(uintptr_t)the.pinned);
    CALL(cuMemFreeHost, the.pinned + 4096);
    CALL(cuMemFreeHost, (void *)(uintptr_t)the.other_memory);
    CALL(cuMemFreeAsync, the.other_memory, the.stream);
    CALL(cuMemFree, the.other_memory);
}

static void memory_of_odd_sizes(void)
{
    CUdeviceptr memory;
    size_t pitch;
    void *host;
    CALL(cuMemAlloc, &memory, 0);
    CALL(cuMemAlloc, &memory, ~(size_t)0);
    CALL(cuMemAlloc, &memory, (size_t)1 << 47);
    CALL(cuMemAllocPitch, &memory, &pitch, ~(size_t)0, 2, 4);
    CALL(cuMemAllocPitch, &memory, &pitch, (size_t)1 << 33, (size_t)1 << 33, 16);
    CALL(cuMemAllocPitch, &memory, &pitch, 0, 0, 77);
    CALL(cuMemHostAlloc, &host, 0, 0);
    CALL(cuMemHostAlloc, &host, ~(size_t)0, 0);
    CALL(cuMemHostAlloc, &host, 4096, ~0u);
    CALL(cuMemAllocManaged, &memory, 0, CU_MEM_ATTACH_GLOBAL);
    CALL(cuMemAllocManaged, &memory, ~(size_t)0, CU_MEM_ATTACH_GLOBAL);
    CALL(cuMemAllocManaged, &memory, 4096, ~0u);
}

static void host_ranges_overlap(void)
{
    char *pages = pages_of(PROT_READ | PROT_WRITE);
    CALL(cuMemHostRegister, pages, PAGES / 2, 0);
    CALL(cuMemHostRegister, pages + PAGES / 4, PAGES / 2, 0);
    CALL(cuMemHostRegister, pages, PAGES / 2, 0);
    CALL(cuMemHostRegister, pages + PAGES / 2, 4096, 0);
    CALL(cuMemHostUnregister, pages + 4096);
    CALL(cuMemHostUnregister, pages);
    CALL(cuMemHostUnregister, pages);
    CALL(cuMemHostRegister, the.pinned, 4096, 0);
    CALL(cuMemHostUnregister, the.pinned);
}

static void host_ranges_of_odd_pages(void)
{
    char *read_only = pages_of(PROT_READ), *closed = pages_of(PROT_NONE), *holed = pages_of(PROT_READ | PROT_WRITE);
    munmap(holed + 16384, 4096);
    CALL(cuMemHostRegister, read_only, PAGES, 0);
    CALL(cuMemHostRegister, read_only, PAGES, CU_MEMHOSTREGISTER_READ_ONLY);
    CALL(cuMemHostRegister, closed, PAGES, 0);
    CALL(cuMemHostRegister, holed, PAGES, 0);
    CALL(cuMemHostRegister, NULL, PAGES, 0);
    CALL(cuMemHostRegister, holed, 0, 0);
    CALL(cuMemHostRegister, holed + 1, 100, ~0u);
    CALL(cuMemHostRegister, holed, ~(size_t)0, 0);
    CALL(cuMemHostRegister, holed, 4096, CU_MEMHOSTREGISTER_IOMEMORY);
    CALL(cuMemHostRegister, (void *)(uintptr_t)the.memory, 4096, 0);
}

static void host_range_unmapped_while_registered(void)
{
    char *pages = pages_of(PROT_READ | PROT_WRITE);
    CUdeviceptr device;
    CALL(cuMemHostRegister, pages, PAGES, CU_MEMHOSTREGISTER_DEVICEMAP);
    munmap(pages, PAGES);
    CALL(cuMemHostGetDevicePointer, &device, pages, 0);
    CALL(cuMemHostUnregister, pages);
}

static void pointers_asked_oddly(void)
{
    static uint64_t answers[64];
    CUdeviceptr base;
    size_t size;
    for (unsigned id = 0; id < 32; id++) {
        CALL(cuPointerGetAttribute, answers, id, the.memory);
        CALL(cuPointerGetAttribute, answers, id, (CUdeviceptr)(uintptr_t)the.pinned);
    }
    CALL(cuPointerGetAttribute, answers, 0x7fffffff, the.memory);
    CALL(cuPointerGetAttribute, answers, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0);
    unsigned on = 77;
    CALL(cuPointerSetAttribute, &on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, the.memory);
    CALL(cuPointerSetAttribute, &on, 0x7fffffff, the.memory);
    CUpointer_attribute ids[] = {CU_POINTER_ATTRIBUTE_CONTEXT, 0x7fffffff, 0};
    void *places[] = {answers, answers + 1, answers + 2};
    CALL(cuPointerGetAttributes, 3, ids, places, the.memory);
    CALL(cuPointerGetAttributes, 0, ids, places, the.memory);
    CALL(cuMemGetAddressRange, &base, &size, the.memory + ODD_BYTES);
    CALL(cuMemGetAddressRange, NULL, NULL, the.memory);
}

static void handles_of_ranges_odd(void)
{
    int descriptor = -1;
    CALL(cuMemGetHandleForAddressRange, &descriptor, the.memory, ODD_BYTES, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    CALL(cuMemGetHandleForAddressRange, &descriptor, the.memory, ~(size_t)0, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    CALL(cuMemGetHandleForAddressRange, &descriptor, the.memory, 4096, 77, ~0ull);
}

const struct odd_case odd_copies[] = {
    ODD_CASE(plane_pitches_overflow, "copies of planes whose sizes overflow 64 bits"),
    ODD_CASE(plane_of_odd_sizes, "copies of planes of odd sizes and memory types"),
    ODD_CASE(block_pitches_overflow, "copies of blocks whose sizes overflow 64 bits"),
    ODD_CASE(copies_overlap, "copies whose source and destination overlap"),
    ODD_CASE(copies_of_odd_sizes, "copies larger than their memory"),
    ODD_CASE(copies_to_odd_host_pages, "copies from pages that are only read, and from pinned memory as device memory"),
    ODD_CASE(copies_of_memory_freed_meanwhile, "memory is freed while a copy of it waits"),
    ODD_CASE(batches_of_copies_odd, "batches of copies with odd sizes and indices"),
    ODD_CASE(fills_of_odd_sizes, "fills of odd sizes and pitches"),
    ODD_CASE(memory_freed_oddly, "memory is freed twice, in its middle and by the wrong call"),
    ODD_CASE(memory_of_odd_sizes, "allocations of no and of huge sizes"),
    ODD_CASE(host_ranges_overlap, "host ranges that overlap are registered"),
    ODD_CASE(host_ranges_of_odd_pages, "host ranges with holes and without access are registered"),
    ODD_CASE(host_range_unmapped_while_registered, "a registered host range is unmapped"),
    ODD_CASE(pointers_asked_oddly, "attributes of pointers of every id"),
    ODD_CASE(handles_of_ranges_odd, "handles of ranges of memory"),
    {0},
};
