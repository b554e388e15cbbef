/* cuGetProcAddress: for a name and a version, the newest entry that is not newer; generated from lookup.versions. */
#include <string.h>

#include "entry.h"
#include "lookup.h"

static int look_up(const char *name, int version, uint64_t flags, void **out)
{
    int status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct lookup_row *best = NULL;
    for (const struct lookup_row *r = lookup_rows; r->name; r++) {
        if (strcmp(r->name, name) != 0 || (r->per_thread && !(flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)))
            continue;
        if (r->since > version) {
            if (!best)
                status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
            continue;
        }
        if (!best || r->since > best->since || (r->since == best->since && r->per_thread) ||
            (r->per_thread && !best->per_thread))
            best = r;
    }
    if (best)
        *out = best->address;
    return best ? CU_GET_PROC_ADDRESS_SUCCESS : status;
}

static CUresult answer(const char *name, void **out, int version, uint64_t flags, int *status)
{
    if (!name || (name[0] && !out) || (flags & ~3ULL))
        return ERROR_INVALID_VALUE;
    int found = look_up(name, version, flags, out);
    if (status)
        *status = found;
    if (found != CU_GET_PROC_ADDRESS_SUCCESS && out)
        *out = NULL;
    return found == CU_GET_PROC_ADDRESS_SUCCESS ? OK : ERROR_NOT_FOUND;
}

EXPORT CUresult cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
    ENTER_EARLY(cuGetProcAddress);
    return answer(name, out, version, flags, NULL);
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status)
{
    ENTER_EARLY(cuGetProcAddress_v2);
    return answer(name, out, version, flags, status);
}
