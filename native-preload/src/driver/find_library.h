/* Finds the library that the dynamic loader would find if ours did not have the same name. Shared by both of our libraries. */
#ifndef TESSERA_FIND_LIBRARY_H
#define TESSERA_FIND_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Searches LD_LIBRARY_PATH, the loader's cache and the usual folders for a file of that name other than ours. Writes its
 * absolute path to `path`. False: not found, and `path` is "". Opens nothing but the cache. Any thread.
 */
bool find_library(const char *name, char *path, size_t size);

#endif
