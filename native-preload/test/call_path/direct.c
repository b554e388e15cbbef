/* An allocation and a launch in time sharing, over a stand-in for the driver; without a manager, on an open gate. */
#include "call_path/call_path.h"
#include "direct/turns/devices.h"
#include "direct/turns/turns.h"
#include "scripted_driver.h"
#include "session/segment.h"

UNTRACED static CUresult allocate(CUdeviceptr *pointer, size_t bytes)
{
    static CUdeviceptr next = 0x10000;
    in_driver();
    *pointer = next;
    next += bytes;
    return CUDA_SUCCESS;
}

UNTRACED static CUresult launch(void)
{
    in_driver();
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream stream, void **parameters, void **extra);

UNTRACED int main(void)
{
    CUdeviceptr pointer;
    driver_load();
    HOOK(cuMemAlloc_v2, allocate);
    HOOK(cuLaunchKernel, launch);
    CHECK(segment_open());
    turns_prepare();
    devices_first(turns_device_opened);
    devices_context_opened(driver.context, 0);
    turns_thaw(false);
    CHECK(cuMemAlloc_v2(&pointer, 4096) == CUDA_SUCCESS);
    CHECK(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS);
    TRACE("cuMemAlloc_v2", cuMemAlloc_v2(&pointer, 4096));
    TRACE("cuLaunchKernel", cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    return 0;
}
