/*
 * The kernel by which the preload library looks at memory (native-preload/src/direct/content/content.cu), in C: the one kernel of
 * somebody else's that this driver runs, since what the library does depends on what it finds.
 */
#ifndef SCRIPTED_CONTENT_KERNEL_H
#define SCRIPTED_CONTENT_KERNEL_H

#include <stdint.h>

/* As in content.cu. */
enum { CONTENT_ROWS = 512, CONTENT_THREADS = 256, CONTENT_LINES = 4, CONTENT_SHIFT = 2 };
enum { CONTENT_RESULTS = CONTENT_LINES + 1, CONTENT_PART_BYTES = CONTENT_ROWS * CONTENT_THREADS * 16 };

/* The kernel, and its global variables. */
#define CONTENT_KERNEL "tessera_content"
#define CONTENT_WORDS "tessera_content_words"
#define CONTENT_NUMBERS "tessera_content_numbers"
enum {
    CONTENT_WORDS_BYTES = 4 * (CONTENT_ROWS * 4 + CONTENT_SHIFT * (CONTENT_LINES - 1)),
    CONTENT_NUMBERS_BYTES = 8 * (CONTENT_THREADS * CONTENT_LINES * 2),
};

/* What a block writes of its part: four numbers, and 1 if anything in it is not zero. */
void content_look(const uint32_t *words, const uint64_t *numbers, const uint32_t *part, uint64_t *results);

#endif
