/*
 * Copies that are larger than the caches. An ordinary store first reads the line that it overwrites. Stores past the
 * caches save that third of the traffic.
 */
#ifndef TESSERA_RELAY_STREAMING_STORES_H
#define TESSERA_RELAY_STREAMING_STORES_H

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PAST_CACHES_LINE 64u
#define PAST_CACHES_AHEAD 512u /* bytes that are asked for before they are copied: a few memory latencies */

/* As memcpy(). A thread that sees a later store of this thread sees the copied bytes, too. */
static inline void memcpy_streaming(void *to, const void *from, size_t bytes)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    size_t head = -(uintptr_t)target & (PAST_CACHES_LINE - 1);
    head = head < bytes ? head : bytes;
    memcpy(target, source, head);
    size_t at = head;
    for (; bytes - at >= PAST_CACHES_LINE; at += PAST_CACHES_LINE) {
        __m128i line[PAST_CACHES_LINE / sizeof(__m128i)];
        _mm_prefetch((const char *)(source + at) + PAST_CACHES_AHEAD, _MM_HINT_NTA); /* never faults */
        for (size_t i = 0; i < sizeof line / sizeof *line; i++)
            line[i] = _mm_loadu_si128((const __m128i *)(const void *)(source + at) + i);
        for (size_t i = 0; i < sizeof line / sizeof *line; i++)
            _mm_stream_si128((__m128i *)(void *)(target + at) + i, line[i]);
    }
    memcpy(target + at, source + at, bytes - at);
    _mm_sfence();
}

#endif
