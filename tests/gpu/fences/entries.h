/* Second entries of kernels: which function a launch gets, as an executor decides. */
#ifndef FENCES_ENTRIES_H
#define FENCES_ENTRIES_H

#include "cases.h"
#include "window.h"

enum { ENTRY_BYTES = 1024 };

/*
 * Looks for the case's kernel in a list of second entries, one a line (FenceCorpus.java writes it), and whether a launch with these values
 * keeps to its terms. Returns 1 with the entry's name and that of the one for few blocks, which is "-" if there is none; 0 if there is no list or entry, or the launch gets the kernel itself. Ends the
 * program where a line is wrong.
 */
int entry_serves(const char *list, const struct fenced_case *what, const uint64_t *values, const struct window *window,
                 char name[ENTRY_BYTES], char few[ENTRY_BYTES]);

/*
 * Whether all blocks of the case run at once where a thread takes so many registers and a block has at most so many threads: then the
 * entry for few blocks serves.
 */
int entry_few(const struct fenced_case *what, int registers, int most_threads, int multiprocessors, int registers_each);

#endif
