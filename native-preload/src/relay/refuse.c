/* What the relay does not serve: refused by name, counted in the error log. */
#include <string.h>

#include "relay.h"
#include "report.h"

/* A program of which a part does not work is not told by an error code alone what to do: said once. */
static void say_managed(const char *name)
{
    static int said;
    bool managed = strcmp(name, "cuMemAllocManaged") == 0 || strcmp(name, "cuLibraryGetManaged") == 0;
    if (managed && !__atomic_exchange_n(&said, 1, __ATOMIC_ACQ_REL))
        report_line("this program uses managed memory (%s), which space sharing does not have: run it with "
                    "--share time", strcmp(name, "cuMemAllocManaged") == 0 ? "cudaMallocManaged" : "a managed variable");
}

CUresult relay_bound(int *said, const char *line)
{
    report_error(CUDA_ERROR_OUT_OF_MEMORY, "%s", line);
    if (!__atomic_exchange_n(said, 1, __ATOMIC_ACQ_REL))
        report_line("%s", line);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult relay_refuse(const char *name, const char *reason)
{
    report_error(CUDA_ERROR_NOT_SUPPORTED, "%s is not supported in space sharing: %s", name, reason);
    say_managed(name);
    return CUDA_ERROR_NOT_SUPPORTED;
}
