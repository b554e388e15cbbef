/* Ranges: against a plain list, with reservations below mappings, and what ends with a context. */
#include "relay/memory/range.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "driver/clock.h"

#define SLOTS 400u
#define STEPS 200000u
#define STRIDE 0x1000u /* a slot's address space; its range begins at it and is no longer */

static uint64_t random_state;
static struct relay_link *link0 = &relay_links[0], *link1 = &relay_links[1];

static uint64_t next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void as_a_list(void)
{
    static struct relay_range model[SLOTS]; /* kind 0: none */
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned slot = next() % SLOTS;
        uint64_t start = 0x100000 + (uint64_t)slot * STRIDE;
        struct relay_range found = {0};
        if (next() % 3 == 0 && !model[slot].kind) {
            model[slot] = (struct relay_range){
                .start = start, .bytes = 1 + next() % STRIDE, .kind = RELAY_RANGE_DEVICE, .link = link0};
            CHECK(relay_range_add(&model[slot]));
        } else if (next() % 3 == 0) {
            CHECK(!relay_range_remove(start, RELAY_RANGE_POOL, NULL)); /* no range of this kind is there */
            CHECK(relay_range_remove(start, RELAY_RANGE_DEVICE, &found) == (model[slot].kind != 0));
            CHECK(found.bytes == model[slot].bytes);
            model[slot].kind = RELAY_RANGE_NONE;
            model[slot].bytes = 0;
        }
        uint64_t inside = next() % STRIDE;
        CHECK(relay_range_find(start + inside, &found) == (inside < model[slot].bytes));
        CHECK(relay_range_overlaps(start + inside, STRIDE - inside) == (inside < model[slot].bytes));
        if (inside < model[slot].bytes)
            CHECK(found.start == start && found.bytes == model[slot].bytes);
    }
    for (unsigned slot = 0; slot < SLOTS; slot++)
        CHECK(relay_range_remove(0x100000 + (uint64_t)slot * STRIDE, RELAY_RANGE_DEVICE, NULL) ==
              (model[slot].kind != 0));
    CHECK(!relay_range_overlaps(0, UINT64_MAX));
}

static void replaced(void)
{
    struct relay_range range = {.start = 0x5000, .bytes = 16, .kind = RELAY_RANGE_GLOBAL, .link = link0}, first, second;
    CHECK(relay_range_add(&range) && relay_range_find(0x5000, &first));
    range.bytes = 32;
    CHECK(relay_range_add(&range) && relay_range_find(0x501f, &second) && second.serial == first.serial);
    CHECK(relay_range_remove(0x5000, RELAY_RANGE_GLOBAL, NULL) && !relay_range_remove(0x5000, RELAY_RANGE_GLOBAL, NULL));
    CHECK(relay_range_add(&range) && relay_range_find(0x5000, &second) &&
          second.serial > first.serial); /* BUFFER_ID is not used again */
    CHECK(relay_range_remove(0x5000, RELAY_RANGE_GLOBAL, NULL));
}

/* The innermost range is found; behind its end, the reservation is. */
static void mapped_in_a_reservation(void)
{
    const struct relay_range around = {.start = 0x10000, .bytes = 0x10000, .kind = RELAY_RANGE_RESERVED, .link = link0},
                             inside = {.start = 0x10000, .bytes = 0x4000, .kind = RELAY_RANGE_MAPPED, .link = link0};
    struct relay_range found;
    CHECK(relay_range_add(&around) && relay_range_add(&inside));
    CHECK(relay_range_find(0x13fff, &found) && found.kind == RELAY_RANGE_MAPPED);
    CHECK(relay_range_find(0x14000, &found) && found.kind == RELAY_RANGE_RESERVED && found.start == 0x10000);
    CHECK(!relay_range_find(0x20000, &found) && !relay_range_find(0xffff, &found));
    CHECK(relay_range_overlaps(0xffff, 2) && !relay_range_overlaps(0xffff, 1) && !relay_range_overlaps(0x20000, 100));
    CHECK(relay_range_remove(0x10000, RELAY_RANGE_MAPPED, NULL) && relay_range_find(0x10000, &found) &&
          found.kind == RELAY_RANGE_RESERVED);
    CHECK(relay_range_remove(0x10000, RELAY_RANGE_RESERVED, NULL));
}

/* Memory that the executor gives out again shows that the graphs whose memory lay there are gone. */
static void of_graphs_that_are_gone(void)
{
    const struct relay_range before = {.start = 0x1000, .bytes = 0x3000, .kind = RELAY_RANGE_GRAPH, .link = link0},
                             behind = {.start = 0x5000, .bytes = 0x1000, .kind = RELAY_RANGE_GRAPH, .link = link0},
                             apart = {.start = 0x8000, .bytes = 0x1000, .kind = RELAY_RANGE_GRAPH, .link = link0},
                             fresh = {.start = 0x3000, .bytes = 0x4000, .kind = RELAY_RANGE_DEVICE, .link = link0};
    struct relay_range found;
    CHECK(relay_range_add(&before) && relay_range_add(&behind) && relay_range_add(&apart) && relay_range_add(&fresh));
    CHECK(!relay_range_find(0x1000, &found) && relay_range_find(0x5000, &found) && found.start == 0x3000);
    CHECK(relay_range_remove(0x3000, RELAY_RANGE_DEVICE, NULL) && !relay_range_overlaps(0x1000, 0x6000));
    CHECK(relay_range_remove(0x8000, RELAY_RANGE_GRAPH, NULL));
}

static void of_another_device(void)
{
    const struct relay_range ours = {.start = 0x1000, .bytes = 0x1000, .kind = RELAY_RANGE_DEVICE, .link = link0},
                             theirs = {.start = 0x3000, .bytes = 0x1000, .kind = RELAY_RANGE_PINNED, .link = link1};
    CHECK(relay_range_add(&ours) && relay_range_add(&theirs));
    CHECK(relay_range_device_side(&ours) && !relay_range_device_side(&theirs));
    relay_link_count = 2;
    CHECK(!relay_range_foreign(link0, 0x1000, 0x2000) && relay_range_foreign(link0, 0x1000, 0x2001));
    CHECK(relay_range_foreign(link0, 0x3fff, 1) && !relay_range_foreign(link0, 0x4000, 0x1000) &&
          relay_range_foreign(link1, 0, 0x1001));
    relay_link_count = 1;
    CHECK(!relay_range_foreign(link0, 0x3000, 1)); /* there is no other */
    CHECK(relay_range_remove(0x1000, RELAY_RANGE_DEVICE, NULL) && relay_range_remove(0x3000, RELAY_RANGE_PINNED, NULL));
}

static void ended_with_a_context(void)
{
    static struct relay_context one, two;
    struct relay_range found;
    one.link = two.link = link0;
    for (uint64_t i = 0; i < 200; i++) {
        const struct relay_range range = {.start = 0x1000 * (i + 1),
                                          .bytes = 0x800,
                                          .kind = i % 5 ? RELAY_RANGE_DEVICE : RELAY_RANGE_RESERVED,
                                          .link = link0,
                                          .context = i % 3 == 0   ? &one
                                                     : i % 3 == 1 ? &two
                                                                  : NULL};
        CHECK(relay_range_add(&range));
    }
    relay_range_context_ended(&one);
    for (uint64_t i = 0; i < 200; i++)
        CHECK(relay_range_find(0x1000 * (i + 1), &found) == (i % 3 != 0) &&
              (i % 3 == 0 || found.context == (i % 3 == 1 ? &two : NULL)));
}

int main(void)
{
    const char *given = getenv("TESSERA_SEED");
    alarm(HANGS_S);
    random_state = given ? strtoull(given, NULL, 10) : monotonic_ns() | 1;
    printf("range: seed %llu\n", (unsigned long long)random_state);
    relay_link_count = 1;
    as_a_list();
    replaced();
    mapped_in_a_reservation();
    of_graphs_that_are_gone();
    of_another_device();
    ended_with_a_context();
    return 0;
}
