#include "relay/description.h"
#include "report.h"

CUresult relay_refuse(const char *name, const char *reason)
{
    report_error(CUDA_ERROR_NOT_SUPPORTED, "%s is not supported in space sharing: %s", name, reason);
    return CUDA_ERROR_NOT_SUPPORTED;
}
