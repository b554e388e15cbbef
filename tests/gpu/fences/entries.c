#include "entries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_BYTES ((uint64_t)4 << 30)

static int next(char **at, unsigned long long *value)
{
    char *end;
    *value = strtoull(*at, &end, 10);
    int found = end != *at;
    *at = end;
    return found;
}

/* Of a wrong line nothing may be taken for granted. */
static void wrong(const char *list)
{
    fprintf(stderr, "%s: a line that is no second entry\n", list);
    exit(2);
}

/* Terms of parameters: COUNT times INDEX OFFSET WIDTH and, for numbers, MOST. Every argument of a case is a parameter of its own. */
static int keeps(char **at, const char *list, const struct fenced_case *what, const uint64_t *values,
                 const struct window *window, int numbers)
{
    unsigned long long count, index, offset, width, most = 0;
    int kept = 1;
    if (!next(at, &count))
        wrong(list);
    while (count-- > 0) {
        if (!next(at, &index) || !next(at, &offset) || !next(at, &width) || width == 0 || (numbers && !next(at, &most)))
            wrong(list);
        if (index >= (unsigned long long)what->arguments || offset != 0) {
            kept = 0;
            continue;
        }
        uint64_t value = values[index];
        if (numbers)
            kept &= (width == 32 ? (uint32_t)value : value) <= most;
        else
            kept &= value - window->base < WINDOW_BYTES && value % width == 0;
    }
    return kept;
}

int entry_serves(const char *list, const struct fenced_case *what, const uint64_t *values, const struct window *window,
                 char name[ENTRY_BYTES], char few[ENTRY_BYTES])
{
    FILE *file = fopen(list, "r");
    char *line = NULL, kernel[ENTRY_BYTES];
    size_t room = 0;
    int served = 0;
    while (file && !served && getline(&line, &room, file) > 0) {
        unsigned block_x, block_y, grid_x;
        int read = 0;
        if (sscanf(line, "%1023s %1023s %1023s %u %u %u %n", kernel, name, few, &block_x, &block_y, &grid_x, &read) < 6)
            wrong(list);
        if (strcmp(kernel, what->kernel) != 0)
            continue;
        char *at = line + read;
        int numbers = keeps(&at, list, what, values, window, 1), pointers = keeps(&at, list, what, values, window, 0);
        served = numbers && pointers && (!block_x || what->block[0] <= block_x) &&
                 (!block_y || what->block[1] <= block_y) && (!grid_x || what->grid[0] <= grid_x);
    }
    free(line);
    if (file)
        fclose(file);
    return served;
}

int entry_few(const struct fenced_case *what, int registers, int most_threads, int multiprocessors, int registers_each)
{
    enum { WARP = 32, PIECE = 256 }; /* registers are given to warps in pieces */
    uint64_t threads = (uint64_t)what->block[0] * what->block[1] * what->block[2];
    uint64_t blocks = (uint64_t)what->grid[0] * what->grid[1] * what->grid[2];
    uint64_t taken = (threads + WARP - 1) / WARP * (((uint64_t)registers * WARP + PIECE - 1) / PIECE * PIECE);
    return taken > 0 && threads <= (uint64_t)most_threads &&
           blocks <= (uint64_t)registers_each / taken * (uint64_t)multiprocessors;
}
