/* An allocation and a launch in space sharing, against a thread that plays the executor. */
#include "call_path/call_path.h"
#include "relay/player.h"
#include "relay_stubs.h"

UNTRACED static bool answer_address(const struct tessera_record *record)
{
    static uint64_t next = 0x10000;
    if (record->kind != TESSERA_RELAY_CALL || record->entry != ENTRY_cuMemAlloc_v2)
        return false;
    next += 4096;
    answer(record, CUDA_SUCCESS, &next, 8);
    return true;
}

UNTRACED int main(void)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr pointer;
    CUstream stream;
    uint64_t parameter[3] = {0};
    void *parameters[] = {&parameter[0], &parameter[1], &parameter[2]};
    player_serves = answer_address;
    player_begin();
    CHECK(relay_cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n") == CUDA_SUCCESS &&
          relay_cuModuleGetFunction(&function, module, "f") == CUDA_SUCCESS);
    CHECK(relay_cuMemAlloc_v2(&pointer, 4096) == CUDA_SUCCESS && relay_cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
    CHECK(relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) == CUDA_SUCCESS);
    TRACE("cuMemAlloc_v2", relay_cuMemAlloc_v2(&pointer, 4096));
    TRACE("cuLaunchKernel", relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    TRACE("... in a stream", relay_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    player_end();
    return 0;
}
