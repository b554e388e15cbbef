#include "relay/streams/user_objects.h"

#include <stdlib.h>

#include "session/hash_table.h"

struct user_object {
    uint64_t handle;
    uint64_t references;
    void (*destroy)(void *); /* CUhostFn */
    void *data;
};

static struct table objects = TABLE_INITIAL;

uint64_t user_object_make(void (*destroy)(void *data), void *data, unsigned count)
{
    static uint32_t next;
    struct user_object *object = malloc(sizeof *object);
    if (!object)
        return 0;
    uint64_t index = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED);
    uint64_t handle = TESSERA_HANDLE_TAG | (uint64_t)TESSERA_HANDLE_USER_OBJECT << 40 | index << 4;
    *object = (struct user_object){handle, count, destroy, data};
    if (!table_put(&objects, handle, object)) {
        free(object);
        return 0;
    }
    return handle;
}

struct user_object *user_object_of(uint64_t handle)
{
    return table_find(&objects, handle);
}

void user_object_retain(struct user_object *object, unsigned count)
{
    __atomic_add_fetch(&object->references, count, __ATOMIC_RELAXED);
}

void user_object_release(struct user_object *object, unsigned count)
{
    if (count == 0 || __atomic_sub_fetch(&object->references, count, __ATOMIC_ACQ_REL) != 0)
        return;
    table_take(&objects, object->handle);
    object->destroy(object->data);
    free(object);
}

bool user_object_give_back(struct user_object *object, unsigned count)
{
    if (__atomic_load_n(&object->references, __ATOMIC_RELAXED) < count)
        return false;
    user_object_release(object, count);
    return true;
}
