/* Answers to lookups by name, and records of kernels: the executor is asked once, and they are forgotten with their owner. */
#include "relay/code/names.h"

#include <stdio.h>

#include "relay/code/functions.h"
#include "relay/memory/range.h"
#include "relay/player.h"
#include "relay_stubs.h"

#define OWNERS 5u
#define NAMES 4000u

static unsigned forgotten;
static void count(uint64_t function)
{
    CHECK(function >= 0x1000);
    forgotten++;
}

/* More names than there are buckets; the same texts under several owners and kinds. */
static void many(void)
{
    struct name_answer answer;
    char text[32];
    names_on_forget(count);
    for (uint64_t owner = 2; owner < 2 + OWNERS; owner++)
        for (uint64_t i = 0; i < NAMES; i++) {
            snprintf(text, sizeof text, "kernel_%u", (unsigned)i);
            names_put(owner, NAME_FUNCTION, text, (struct name_answer){0x100000 * owner + i, 0});
            names_put(owner, NAME_FUNCTION, text, (struct name_answer){1, 1}); /* the first answer stays */
        }
    for (uint64_t owner = 2; owner < 2 + OWNERS; owner++)
        for (uint64_t i = 0; i < NAMES; i++) {
            snprintf(text, sizeof text, "kernel_%u", (unsigned)i);
            CHECK(names_find(owner, NAME_FUNCTION, text, &answer) && answer.value == 0x100000 * owner + i);
            CHECK(!names_find(owner, NAME_KERNEL, text, &answer) &&
                  !names_find(owner + OWNERS, NAME_FUNCTION, text, &answer));
        }
    CHECK(strcmp(names_of(0x300000 + 17, NAME_FUNCTION), "kernel_17") == 0 && !names_of(0x300000 + 17, NAME_KERNEL) &&
          !names_of(5, NAME_FUNCTION));
    names_put(3, NAME_FUNCTION, NULL, (struct name_answer){0x7777, 0}); /* without a name */
    CHECK(!names_of(0x7777, NAME_FUNCTION) && !names_find(3, NAME_FUNCTION, "", &answer));
    names_forget(3);
    CHECK(forgotten == NAMES + 1 && !names_find(3, NAME_FUNCTION, "kernel_0", &answer) &&
          names_find(4, NAME_FUNCTION, "kernel_0", &answer));
    names_forget(3);
    CHECK(forgotten == NAMES + 1);
}

static void globals(void)
{
    const struct relay_range range = {.start = 0x9000, .bytes = 16, .kind = RELAY_RANGE_GLOBAL, .link = &relay_links[0]};
    struct relay_range found;
    forgotten = 0;
    CHECK(relay_range_add(&range));
    names_put(90, NAME_GLOBAL, "counter", (struct name_answer){0x9000, 16});
    names_forget(90);
    CHECK(forgotten == 0 && !relay_range_find(0x9000, &found));
}

static void functions(void)
{
    void *handle = (void *)HANDLE(TESSERA_HANDLE_FUNCTION, 7), *kernel = (void *)HANDLE(TESSERA_HANDLE_KERNEL, 8);
    struct function *function, *same;
    uint64_t wire;
    CHECK(function_of(&context, (void *)HANDLE(TESSERA_HANDLE_MODULE, 7), &function, &wire) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(function_of(&context, (void *)0x1000, &function, &wire) == CUDA_ERROR_INVALID_HANDLE &&
          seen[TESSERA_RELAY_QUERY] == 0);
    CHECK(function_of(&context, handle, &function, &wire) == CUDA_SUCCESS && function->parameters == 3 &&
          wire == (uintptr_t)handle);
    CHECK(function_of(&context, handle, &same, &wire) == CUDA_SUCCESS && same == function &&
          seen[TESSERA_RELAY_QUERY] == 1);
    CHECK(function_of(&context, kernel, &same, &wire) == CUDA_SUCCESS && same == function &&
          wire == (uintptr_t)kernel); /* the CUfunction behind it is the same */
    CHECK(seen[TESSERA_RELAY_QUERY] == 2 && !functions_print(&relay_links[0]));
    functions_forget((uintptr_t)kernel); /* both keys of it */
    functions_forget((uintptr_t)kernel);
    CHECK(function_of(&context, handle, &function, &wire) == CUDA_SUCCESS && seen[TESSERA_RELAY_QUERY] == 3);
    functions_forget_link(&relay_links[0]);
    CHECK(function_of(&context, handle, &function, &wire) == CUDA_SUCCESS && seen[TESSERA_RELAY_QUERY] == 4);
}

static void attributes(void)
{
    CUfunction function = (CUfunction)HANDLE(TESSERA_HANDLE_FUNCTION, 7);
    int value = 0;
    CHECK(relay_cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function) == CUDA_SUCCESS &&
          value == 1000);
    CHECK(relay_cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, function) ==
          CUDA_ERROR_INVALID_VALUE); /* the executor did not report it */
    CHECK(relay_cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1000) == CUDA_SUCCESS &&
          calls[ENTRY_cuFuncSetAttribute] == 0); /* unchanged: not sent */
    CHECK(relay_cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 900) == CUDA_SUCCESS &&
          calls[ENTRY_cuFuncSetAttribute] == 1);
    CHECK(relay_cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 512) == CUDA_SUCCESS &&
          calls[ENTRY_cuFuncSetAttribute] == 2); /* read-only: sent even if unchanged, for the driver to refuse */
    CHECK(relay_cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function) == CUDA_SUCCESS &&
          value == 900);
    CHECK(relay_cuFuncSetAttribute(function, (int)TESSERA_RELAY_FUNCTION_ATTRIBUTES, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(relay_cuFuncSetAttribute(function, -1, 1) == CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    player_begin();
    many();
    globals();
    functions();
    attributes();
    player_end();
    return 0;
}
