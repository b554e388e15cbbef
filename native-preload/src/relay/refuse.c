/* What the relay does not serve: refused by name, counted in the error log. */
#include "relay.h"
#include "report.h"

CUresult relay_refuse(const char *name, const char *reason)
{
    report_error(CUDA_ERROR_NOT_SUPPORTED, "%s is not supported in space sharing: %s", name, reason);
    return CUDA_ERROR_NOT_SUPPORTED;
}
