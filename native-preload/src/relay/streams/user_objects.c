#include "relay/streams/user_objects.h"

#include <stdlib.h>

#include "relay/streams/holdings.h"
#include "relay/wire/table.h"

enum { NO_DESTRUCTOR_SYNC = 1 }; /* CUuserObject_flags: the only one, and required */
enum { RETAIN_MOVE = 1 };        /* CUuserObjectRetain_flags */
#define MOST (UINT32_MAX / 2)

struct user_object {
    uint64_t handle;
    uint64_t references;
    void (*destroy)(void *); /* CUhostFn */
    void *data;
};

static struct table objects = TABLE_INITIAL;

CUresult relay_cuUserObjectCreate(CUuserObject *answer, void *data, void *destroy, unsigned int count,
                                  unsigned int flags)
{
    static uint32_t next;
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (!answer || !destroy || count == 0 || count > MOST || flags != NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct user_object *object = malloc(sizeof *object);
    if (!object)
        return CUDA_ERROR_OUT_OF_MEMORY;
    uint64_t index = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
    *object = (struct user_object){
        .handle = TESSERA_HANDLE_TAG | (uint64_t)TESSERA_HANDLE_USER_OBJECT << 40 | index << 4,
        .references = count,
        .destroy = (void (*)(void *))(uintptr_t)destroy,
        .data = data,
    };
    if (!table_put(&objects, object->handle, object)) {
        free(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *answer = (CUuserObject)(uintptr_t)object->handle;
    return CUDA_SUCCESS;
}

void user_object_release(struct user_object *object, unsigned count)
{
    if (count == 0 || __atomic_sub_fetch(&object->references, count, __ATOMIC_ACQ_REL) != 0)
        return;
    table_take(&objects, object->handle);
    object->destroy(object->data);
    free(object);
}

static CUresult find(CUuserObject handle, unsigned count, struct user_object **object)
{
    CUresult result = relay_started();
    if (result != CUDA_SUCCESS)
        return result;
    *object = table_find(&objects, (uintptr_t)handle);
    return *object && count != 0 && count <= MOST ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult relay_cuUserObjectRetain(CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    if (result == CUDA_SUCCESS)
        __atomic_add_fetch(&object->references, count, __ATOMIC_RELAXED);
    return result;
}

CUresult relay_cuUserObjectRelease(CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    if (result == CUDA_SUCCESS && __atomic_load_n(&object->references, __ATOMIC_RELAXED) < count)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        user_object_release(object, count);
    return result;
}

CUresult relay_cuGraphRetainUserObject(CUgraph graph, CUuserObject handle, unsigned int count, unsigned int flags)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (relay_handle_type((uintptr_t)graph) != TESSERA_HANDLE_GRAPH || flags > RETAIN_MOVE)
        return CUDA_ERROR_INVALID_VALUE;
    if (!holdings_add_object((uintptr_t)graph, object, count))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (flags != RETAIN_MOVE)
        __atomic_add_fetch(&object->references, count, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult relay_cuGraphReleaseUserObject(CUgraph graph, CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = find(handle, count, &object);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned removed = holdings_remove_object((uintptr_t)graph, object, count);
    user_object_release(object, removed);
    return removed == count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
