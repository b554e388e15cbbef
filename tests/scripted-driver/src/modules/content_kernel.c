#include "modules/content_kernel.h"

#define PRIME ((1ULL << 61) - 1)

static uint64_t product(uint64_t key, uint32_t value)
{
    return (uint64_t)((unsigned __int128)key * value % PRIME);
}

/*
 * Row by row, as the memory lies: `sums` are those of all threads of a block. A program may write meanwhile what is only sampled, which
 * is no fault.
 */
__attribute__((no_sanitize_thread)) static uint32_t add_rows(const uint32_t *words, const uint32_t *part,
                                                             uint64_t sums[][CONTENT_LINES])
{
    uint32_t any = 0;
    for (unsigned row = 0; row < CONTENT_ROWS; row++)
        for (unsigned thread = 0; thread < CONTENT_THREADS; thread++) {
            const uint32_t *value = part + (row * CONTENT_THREADS + thread) * 4;
            any |= value[0] | value[1] | value[2] | value[3];
            for (unsigned i = 0; i < CONTENT_LINES; i++) {
                const uint32_t *key = words + row * 4 + i * CONTENT_SHIFT;
                sums[thread][i] += (uint64_t)(value[0] + key[0]) * (value[1] + key[1]);
                sums[thread][i] += (uint64_t)(value[2] + key[2]) * (value[3] + key[3]);
            }
        }
    return any;
}

void content_look(const uint32_t *words, const uint64_t *numbers, const uint32_t *part, uint64_t *results)
{
    uint64_t sums[CONTENT_THREADS][CONTENT_LINES] = {{0}};
    uint32_t any = add_rows(words, part, sums);
    for (unsigned i = 0; i < CONTENT_LINES; i++) {
        uint64_t result = 0;
        for (unsigned thread = 0; thread < CONTENT_THREADS; thread++) {
            const uint64_t *key = numbers + (thread * CONTENT_LINES + i) * 2;
            uint64_t sum = sums[thread][i];
            result = (result + product(key[0], (uint32_t)sum) + product(key[1], (uint32_t)(sum >> 32))) % PRIME;
        }
        results[i] = result;
    }
    results[CONTENT_LINES] = any != 0;
}
