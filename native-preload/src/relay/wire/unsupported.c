/* What the relay does not serve: refused by name, counted in the error log. */
#include <string.h>

#include "relay/wire/unsupported.h"
#include "relay/wire/relay.h"
#include "session/report.h"

#define MOST_SAID 16u

/*
 * Whether this is the first call refused for this reason: entries come in families with one reason, and a program that
 * uses a family gets one line.
 */
static bool is_new(const char *reason)
{
    static const char *said[MOST_SAID];
    for (unsigned i = 0; i < MOST_SAID; i++) {
        const char *known = NULL;
        if (__atomic_compare_exchange_n(&said[i], &known, reason, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return true;
        if (strcmp(known, reason) == 0)
            return false;
    }
    return false;
}

/* An error code alone does not tell the user what to do. */
static void say(const char *name, const char *reason)
{
    bool managed = strcmp(name, "cuMemAllocManaged") == 0 || strcmp(name, "cuLibraryGetManaged") == 0;
    if (!is_new(managed ? "managed" : reason))
        return;
    if (managed)
        report_line("this program uses managed memory (%s), which space sharing does not have: run it with "
                    "--share time",
                    strcmp(name, "cuMemAllocManaged") == 0 ? "cudaMallocManaged" : "a managed variable");
    else
        report_line("%s is not supported in space sharing (%s); run the program with --share time", name, reason);
}

CUresult relay_limit_reached(int *said, const char *line)
{
    report_error(CUDA_ERROR_OUT_OF_MEMORY, "%s", line);
    if (!__atomic_exchange_n(said, 1, __ATOMIC_ACQ_REL))
        report_line("%s", line);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult relay_too_many_functions(void)
{
    static int said;
    return relay_limit_reached(
        &said,
        "at most 8,184 functions of a module or library are listed at a time in space sharing: ask for that many, or for "
        "each by its name");
}

CUresult relay_unsupported_query(const char *name, const char *reason)
{
    report_error(CUDA_ERROR_NOT_SUPPORTED, "%s is not supported in space sharing: %s", name, reason);
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult relay_unsupported(const char *name, const char *reason)
{
    say(name, reason);
    return relay_unsupported_query(name, reason);
}
