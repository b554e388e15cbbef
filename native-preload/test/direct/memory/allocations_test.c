/* The record of allocations: against a plain array, with keys that collide, and what ends with a context or a last reference. */
#include "direct/memory/allocations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "driver/clock.h"

#define KEYS 6000u /* more than the first table holds */
#define STEPS 200000u

static uint64_t random_state;

static uint64_t next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static struct allocation model[KEYS]; /* key 0: not there */

/* Two spaces use each key. */
static enum allocation_space space_of(unsigned i)
{
    return i % 2 ? ALLOCATION_HOST : ALLOCATION_POINTER;
}

static uint64_t key_of(unsigned i)
{
    return 0x7f0000000000 + (i / 2) * 4096ULL;
}

static bool same(const struct allocation *a, const struct allocation *b)
{
    return a->key == b->key && a->bytes == b->bytes && a->context == b->context && a->space == b->space &&
           a->references == b->references;
}

static void sum(const struct allocation *allocation, void *bytes)
{
    *(uint64_t *)bytes += allocation->bytes;
}

static uint64_t all_bytes(void)
{
    uint64_t bytes = 0;
    allocations_each(sum, &bytes);
    return bytes;
}

static void as_an_array(void)
{
    uint64_t bytes = 0;
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = next() % KEYS;
        struct allocation got = {0};
        switch (next() % 4) {
        case 0:
        case 1: /* replaces one of the same space and key */
            bytes -= model[i].bytes;
            model[i] = (struct allocation){.key = key_of(i),
                                           .bytes = next() % 1000,
                                           .context = 1 + i % 3,
                                           .references = 1,
                                           .space = (uint8_t)space_of(i)};
            bytes += model[i].bytes;
            CHECK(allocations_add(model[i]));
            break;
        case 2:
            CHECK(allocations_remove(space_of(i), key_of(i), &got) == (model[i].key != 0) && same(&got, &model[i]));
            bytes -= model[i].bytes;
            model[i] = (struct allocation){0};
            break;
        default:
            CHECK(allocations_find(space_of(i), key_of(i), &got) == (model[i].key != 0) && same(&got, &model[i]));
        }
    }
    CHECK(all_bytes() == bytes);
    CHECK(!allocations_find(ALLOCATION_ARRAY, key_of(0), &model[0])); /* a key of another space */
}

/* Removes the context's allocations, each once, and no others. */
static void context_ends(void)
{
    struct allocation gone;
    unsigned of_two = 0, others = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        of_two += model[i].key && model[i].context == 2;
        others += model[i].key && model[i].context != 2;
    }
    CHECK(of_two > 0 && others > 0);
    for (; of_two > 0; of_two--)
        CHECK(allocations_remove_of_context(2, &gone) && gone.context == 2);
    CHECK(!allocations_remove_of_context(2, &gone));
    for (; others > 0; others--)
        CHECK(allocations_remove_of_context(1, &gone) || allocations_remove_of_context(3, &gone));
    CHECK(all_bytes() == 0);
}

static void references(void)
{
    struct allocation changed;
    uint64_t key = allocations_new_backing();
    CHECK(allocations_new_backing() != key);
    CHECK(allocations_refer(ALLOCATION_BACKING, key, 1, &changed) == UINT32_MAX);
    CHECK(allocations_add((struct allocation){.key = key, .bytes = 7, .references = 1, .space = ALLOCATION_BACKING}));
    CHECK(allocations_refer(ALLOCATION_BACKING, key, 1, NULL) == 2);
    CHECK(allocations_refer(ALLOCATION_BACKING, key, -1, &changed) == 1 && changed.bytes == 7);
    CHECK(allocations_find(ALLOCATION_BACKING, key, &changed) && changed.references == 1);
    CHECK(allocations_refer(ALLOCATION_BACKING, key, -1, &changed) == 0 && changed.bytes == 7);
    CHECK(!allocations_find(ALLOCATION_BACKING, key, &changed));
}

static void forked(void)
{
    struct allocation found;
    CHECK(allocations_add((struct allocation){.key = 5, .bytes = 7, .space = ALLOCATION_HOST}));
    allocations_forked();
    CHECK(!allocations_find(ALLOCATION_HOST, 5, &found) && all_bytes() == 0);
    CHECK(allocations_add((struct allocation){.key = 6, .bytes = 8, .space = ALLOCATION_HOST}) && all_bytes() == 8);
}

int main(void)
{
    alarm(HANGS_S);
    const char *seed = getenv("TESSERA_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : monotonic_ns() | 1;
    printf("allocations: seed %llu\n", (unsigned long long)random_state);
    as_an_array();
    context_ends();
    references();
    forked();
    return 0;
}
