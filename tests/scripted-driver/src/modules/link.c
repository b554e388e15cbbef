/* The JIT's linker: its image is an empty ELF file, which is enough for a module that has every function and global. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "entry.h"

/* A 64-bit ELF header without sections and segments. */
static const unsigned char image[64] = {0x7f, 'E', 'L', 'F', 2, 1, 1, 0x33};

struct linker {
    unsigned inputs;
};

EXPORT CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, struct linker **out)
{
    ENTER(cuLinkCreate_v2);
    (void)count, (void)options, (void)values;
    if (!out)
        return ERROR_INVALID_VALUE;
    struct linker *linker = calloc(1, sizeof *linker);
    if (!linker)
        return ERROR_OUT_OF_MEMORY;
    LOCKED;
    handle_add(HANDLE_LINK, linker);
    *out = linker;
    return OK;
}

EXPORT CUresult cuLinkAddData_v2(struct linker *linker, int type, void *data, size_t bytes, const char *name,
                                 unsigned count, int *options, void **values)
{
    ENTER(cuLinkAddData_v2);
    (void)type, (void)name, (void)count, (void)options, (void)values;
    LOCKED;
    if (!handle_is(HANDLE_LINK, linker))
        return ERROR_INVALID_HANDLE;
    if (!data || !bytes)
        return ERROR_INVALID_VALUE;
    linker->inputs++;
    return OK;
}

EXPORT CUresult cuLinkComplete(struct linker *linker, void **out, size_t *bytes)
{
    ENTER(cuLinkComplete);
    LOCKED;
    if (!handle_is(HANDLE_LINK, linker))
        return ERROR_INVALID_HANDLE;
    if (!out || linker->inputs == 0)
        return ERROR_INVALID_VALUE;
    *out = (void *)(uintptr_t)image;
    if (bytes)
        *bytes = sizeof image;
    return OK;
}

EXPORT CUresult cuLinkDestroy(struct linker *linker)
{
    ENTER(cuLinkDestroy);
    LOCKED;
    if (!handle_drop(HANDLE_LINK, linker))
        return ERROR_INVALID_HANDLE;
    free(linker);
    return OK;
}
