/* The entries of user objects: the client alone serves them. */
#include "relay/streams/graph_references.h"
#include "relay/streams/user_objects.h"

#define MOST (UINT32_MAX / 2)

CUresult relay_cuUserObjectCreate(CUuserObject *answer, void *data, void *destroy, unsigned int count,
                                  unsigned int flags)
{
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (!answer || !destroy || count == 0 || count > MOST || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t handle = user_object_make((void (*)(void *))(uintptr_t)destroy, data, count);
    if (!handle)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *answer = (CUuserObject)(uintptr_t)handle;
    return CUDA_SUCCESS;
}

static CUresult find(CUuserObject handle, unsigned count, struct user_object **object)
{
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    *object = user_object_of((uintptr_t)handle);
    return *object && count != 0 && count <= MOST ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuUserObjectRetain(CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    if (result == CUDA_SUCCESS)
        user_object_retain(object, count);
    return result;
}

CUresult relay_cuUserObjectRelease(CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    return result == CUDA_SUCCESS && !user_object_give_back(object, count) ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult relay_cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned int count, unsigned int flags)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (relay_handle_type((uintptr_t)graph) != TESSERA_HANDLE_GRAPH || flags > CU_GRAPH_USER_OBJECT_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!graph_references_add_object((uintptr_t)graph, object, count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (flags != CU_GRAPH_USER_OBJECT_MOVE)
        user_object_retain(object, count);
    return CUDA_SUCCESS;
}

CUresult relay_cuGraphReleaseUserObject(CUgraph graph, CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned removed = graph_references_remove_object((uintptr_t)graph, object, count);
    user_object_release(object, removed);
    return removed == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
