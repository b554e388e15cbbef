/* The kernels of the corpus: how each is launched, on what data. */
#ifndef FENCES_CASES_H
#define FENCES_CASES_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_ARGUMENTS = 16, NAME_BYTES = 128 };

/* One argument of a kernel. A scalar has its value, a buffer its bytes. */
struct argument {
    char kind;
    int compared;
    size_t count, bytes, span;
    uint64_t modulus, value;
    size_t offset;
};

/* One line of the file of cases. */
struct fenced_case {
    char file[NAME_BYTES], kernel[NAME_BYTES];
    unsigned grid[3], block[3], shared;
    int arguments;
    struct argument argument[MOST_ARGUMENTS];
};

/* Reads a line; 0 for a comment or an empty line. Ends the program where a line is wrong. */
int case_read(const char *line, struct fenced_case *found);

/* Fills a buffer's bytes; the same every time. */
void case_fill(const struct argument *argument, int number, void *to);

#endif
