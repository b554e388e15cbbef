/* What the relay does not serve: refused by name, counted in the error log. */
#include "relay.h"
#include "report.h"

CUresult relay_refuse(const char *entry, const char *why)
{
    report_error(CUDA_ERROR_NOT_SUPPORTED, "%s: %s", entry, why);
    return CUDA_ERROR_NOT_SUPPORTED;
}
