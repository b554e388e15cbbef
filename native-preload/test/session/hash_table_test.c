/* The table from keys to structures: against a plain array, full, and read while others write. */
#include "session/hash_table.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "driver/clock.h"

#define KEYS 3000u
#define STEPS 400000u
#define MOST (TABLE_SLOTS / 4 * 3)

static uint64_t random_state;

static uint64_t next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t keys[KEYS];

/* Keys that hash to a few slots at the table's end, so that probes wrap around and pass other keys and removed ones. */
static void choose_keys(void)
{
    uint64_t key = 2;
    for (unsigned i = 0; i < KEYS; key++)
        if (key * TABLE_MULTIPLIER >> TABLE_SHIFT >= TABLE_SLOTS - 64)
            keys[i++] = key;
}

static void as_an_array(void)
{
    static struct table table = TABLE_INITIAL;
    static unsigned char values[KEYS];
    static void *model[KEYS];
    CHECK(!table_find(&table, keys[0]) && !table_take(&table, keys[0]));
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = next() % KEYS, other = next() % KEYS;
        switch (next() % 4) {
        case 0:
            CHECK(table_put(&table, keys[i], &values[other]));
            model[i] = &values[other];
            break;
        case 1:
            CHECK(table_take(&table, keys[i]) == model[i]);
            model[i] = NULL;
            break;
        default:
            CHECK(table_find(&table, keys[i]) == model[i]);
        }
    }
    unsigned live = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        CHECK(table_find(&table, keys[i]) == model[i]);
        live += model[i] != NULL;
    }
    CHECK(table.live == live);
}

static void keys_that_are_none(void)
{
    static struct table table = TABLE_INITIAL;
    int value;
    CHECK(!table_put(&table, 0, &value) && !table_put(&table, 1, &value));
    CHECK(table_put(&table, 2, &value) && table_take(&table, 2) == &value); /* leaves no mark that 1 would find */
    CHECK(!table_find(&table, 0) && !table_find(&table, 1) && !table_take(&table, 0) && !table_take(&table, 1));
}

static void full(void)
{
    static struct table table = TABLE_INITIAL;
    int value, other;
    for (uint64_t key = 2; key < MOST + 2; key++)
        CHECK(table_put(&table, key, &value));
    CHECK(!table_put(&table, MOST + 2, &value) && !table_find(&table, MOST + 2));
    CHECK(table_put(&table, 77, &other) && table_find(&table, 77) == &other); /* replaced: needs no room */
    CHECK(table_take(&table, 77) == &other && table_put(&table, MOST + 2, &value));
    for (uint64_t key = 2; key < MOST + 3; key++)
        CHECK(table_find(&table, key) == (key == 77 ? NULL : &value));
}

static bool is_odd(const void *value, const void *of)
{
    (void)of;
    return (*(const unsigned *)value & 1) != 0;
}

static void count(void *value, void *with)
{
    CHECK(!is_odd(value, NULL));
    ++*(unsigned *)with;
}

static void taken_by_what_they_are(void)
{
    static struct table table = TABLE_INITIAL;
    static unsigned numbers[KEYS];
    uint32_t at = 0;
    unsigned taken = 0, left = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        numbers[i] = i;
        CHECK(table_put(&table, keys[i], &numbers[i]));
    }
    while (table_take_where(&table, &at, is_odd, NULL))
        taken++;
    table_each(&table, count, &left);
    CHECK(taken == KEYS / 2 && left == KEYS / 2 && table.live == KEYS / 2);
}

static struct table shared = TABLE_INITIAL;
static bool done;

static void *read_on(void *unused)
{
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        for (unsigned i = 0; i < KEYS; i += 2)
            CHECK(table_find(&shared, keys[i]) == &keys[i]);
    return unused;
}

/* Every second key stays, the others come and go: no reader misses one that stays. */
static void read_while_written(void)
{
    pthread_t reader;
    for (unsigned i = 0; i < KEYS; i++)
        CHECK(table_put(&shared, keys[i], &keys[i]));
    CHECK(pthread_create(&reader, NULL, read_on, NULL) == 0);
    for (unsigned round = 0; round < 60; round++) {
        for (unsigned i = 1; i < KEYS; i += 2)
            CHECK(table_take(&shared, keys[i]) == &keys[i]);
        for (unsigned i = 1; i < KEYS; i += 2)
            CHECK(table_put(&shared, keys[i], &keys[i]));
    }
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    pthread_join(reader, NULL);
}

int main(void)
{
    const char *given = getenv("TESSERA_SEED");
    random_state = given ? strtoull(given, NULL, 10) : monotonic_ns() | 1;
    printf("table: seed %llu\n", (unsigned long long)random_state);
    choose_keys();
    as_an_array();
    keys_that_are_none();
    full();
    taken_by_what_they_are();
    read_while_written();
    return 0;
}
