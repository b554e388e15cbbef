/* Queries about an address: its range and its attributes. */
#include <string.h>

#include "direct/memory/allocations.h"
#include "direct/ipc/exportable.h"
#include "direct/ipc/import.h"
#include "direct/entry/pointer_facts.h"
#include "session/settings.h"
#include "direct/swap/swap.h"
#include "tessera_entries.h"

/* Finds memory that the library answers for: of plan swap, or opened by a handle of the library. */
static bool find(CUdeviceptr pointer, struct swap_range *range)
{
    return swap_find(pointer, range) || ipc_import_find(pointer, range);
}

/* Whether the address lies in memory that plan managed converted. */
static bool converted(CUdeviceptr pointer)
{
    CUdeviceptr start = 0;
    struct allocation known;
    return (settings()->managed || settings()->automatic) &&
           REAL(cuPointerGetAttribute)((void *)&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, pointer) == CUDA_SUCCESS &&
           allocations_find(ALLOCATION_POINTER, start, &known) && known.managed;
}

TESSERA_EXPORT CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr pointer)
{
    struct swap_range range;
    if (find(pointer, &range))
        return pointer_fact(&range, pointer, attribute, data);
    bool differs = attribute == CU_POINTER_ATTRIBUTE_IS_MANAGED || attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER;
    if (!differs || !data || !converted(pointer))
        return REAL(cuPointerGetAttribute)(data, attribute, pointer);
    if (attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER)
        return CUDA_ERROR_INVALID_VALUE; /* as for plain memory, which the program asked for */
    memset(data, 0, sizeof(unsigned));
    return CUDA_SUCCESS;
}

/* cuPointerGetAttributes returns 0 for attributes that such memory lacks. */
static CUresult swapped_attributes(const struct swap_range *range, unsigned count, const int *attributes, void **data,
                                   CUdeviceptr pointer)
{
    if (!attributes || !data || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (data[i] && pointer_fact(range, pointer, attributes[i], data[i]) != CUDA_SUCCESS)
            memset(data[i], 0, pointer_fact_bytes(attributes[i]));
    return CUDA_SUCCESS;
}

TESSERA_EXPORT CUresult cuPointerGetAttributes(unsigned count, int *attributes, void **data, CUdeviceptr pointer)
{
    struct swap_range range;
    if (find(pointer, &range))
        return swapped_attributes(&range, count, attributes, data, pointer);
    CUresult result = REAL(cuPointerGetAttributes)(count, attributes, (void *)data, pointer);
    if (result != CUDA_SUCCESS || !attributes || !data || !converted(pointer))
        return result;
    for (unsigned i = 0; i < count; i++) {
        if (data[i] && attributes[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED)
            memset(data[i], 0, sizeof(unsigned));
        else if (data[i] && attributes[i] == CU_POINTER_ATTRIBUTE_HOST_POINTER)
            memset(data[i], 0, sizeof(void *)); /* no attribute: NULL */
    }
    return result;
}

/* Programs call this before other devices access the memory (RDMA), so the memory is fixed. */
TESSERA_EXPORT CUresult cuPointerSetAttribute(const void *value, int attribute, CUdeviceptr pointer)
{
    CUresult result = swap_find(pointer, NULL) ? exportable_fix(pointer) : CUDA_SUCCESS;
    return result == CUDA_SUCCESS ? REAL(cuPointerSetAttribute)(value, attribute, pointer) : result;
}

TESSERA_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr pointer)
{
    struct swap_range range;
    if (!find(pointer, &range))
        return REAL(cuMemGetAddressRange_v2)(base, bytes, pointer);
    if (base)
        *base = range.base;
    if (bytes)
        *bytes = range.bytes;
    return CUDA_SUCCESS;
}

/* The 32-bit form: its pointers cannot hold addresses of plan swap. */
TESSERA_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned *bytes, CUdeviceptr_v1 pointer)
{
    return REAL(cuMemGetAddressRange)(base, bytes, pointer);
}
