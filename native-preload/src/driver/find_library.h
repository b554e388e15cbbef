/* Where the dynamic loader would find a library, had we not taken its name. Shared by both of our libraries. */
#ifndef TESSERA_FIND_LIBRARY_H
#define TESSERA_FIND_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Searches LD_LIBRARY_PATH, the loader's cache and the usual folders for a file of that name other than ours.
 * Writes the absolute path. Opens nothing but the cache.
 */
bool find_library(const char *name, char *path, size_t size);

#endif
