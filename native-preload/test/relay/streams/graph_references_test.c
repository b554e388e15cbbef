/* What graphs keep alive: words and user objects are released with their last holder. */
#include "relay/streams/graph_references.h"

#include "relay/player.h"
#include "relay/wire/callbacks.h"

static unsigned released, destroyed;

static void nothing(void *data)
{
    (void)data;
}

static void count(void *number)
{
    ++*(unsigned *)number;
}

static void words(void)
{
    const struct callback callback = {.function = nothing, .released = count, .data = &released};
    struct callback behind;
    int word = callback_prepare(&context, &callback, true);
    CHECK(word >= 0 && graph_references_add_word(20, &relay_links[0], word) && graph_references_any(20) &&
          !graph_references_any(2));
    CHECK(graph_references_copy(20, 2) == CUDA_SUCCESS && graph_references_copy(7, 8) == CUDA_SUCCESS &&
          !graph_references_any(8));
    graph_references_end(20);
    CHECK(released == 0 && callback_of(&relay_links[0], word, &behind) && !graph_references_any(20));
    graph_references_move(2, 3);
    CHECK(!graph_references_any(2) && graph_references_any(3) && released == 0);
    graph_references_end(3);
    graph_references_end(3);
    CHECK(released == 1 && !callback_of(&relay_links[0], word, &behind));
}

static void objects(void)
{
    uint64_t handle = user_object_make(count, &destroyed, 5);
    struct user_object *object = user_object_of(handle);
    CHECK(handle && relay_handle_type(handle) == TESSERA_HANDLE_USER_OBJECT && object && !user_object_of(handle + 16));
    CHECK(graph_references_add_object(4, object, 2) && graph_references_add_object(4, object, 1)); /* 3 of 5 */
    CHECK(!user_object_give_back(object, 6) && destroyed == 0);
    CHECK(user_object_give_back(object, 2) && destroyed == 0); /* the program's own */
    CHECK(graph_references_remove_object(4, object, 1) == 1 && graph_references_remove_object(9, object, 1) == 0);
    user_object_retain(object, 1);
    user_object_release(object, 2);
    CHECK(destroyed == 0 && user_object_of(handle) == object);
    CHECK(graph_references_copy(4, 5) == CUDA_SUCCESS);
    graph_references_end(4);
    CHECK(destroyed == 0);                                      /* its copy holds the same two */
    CHECK(graph_references_remove_object(5, object, 100) == 2); /* no more than there are */
    graph_references_end(5);
    CHECK(destroyed == 0);
    user_object_release(object, 0);
    user_object_release(object, 2);
    CHECK(destroyed == 1 && !user_object_of(handle));
}

int main(void)
{
    player_begin();
    words();
    objects();
    player_end();
    return 0;
}
