package io.tessera.executor.driver;

import io.tessera.device.CudaResult;

/** The errors after which a context is lost with everything in it (cuda.h). */
public final class FatalErrors {
    /** An error of hardware, like CONTAINED; cuda.h 13.0 has no name for it. */
    private static final int UNCONTAINED = 227;
    /** The last of the errors of kernels, which are treated as fatal; cuda.h 13.0 has no name for it. */
    private static final int BEHIND_MEMORY_LEAK = 722;

    private FatalErrors() {
    }

    /** Returns whether it is an error after which the process must end to use CUDA again (cuda.h), or one of broken hardware. */
    public static boolean isFatal(int result) {
        return switch (result) {
            case CudaResult.ECC_UNCORRECTABLE, CudaResult.NVLINK_UNCORRECTABLE, CudaResult.CONTAINED, UNCONTAINED -> true;
            case CudaResult.ILLEGAL_ADDRESS, CudaResult.LAUNCH_TIMEOUT, CudaResult.CONTEXT_IS_DESTROYED, CudaResult.ASSERT,
                    CudaResult.HARDWARE_STACK_ERROR, CudaResult.ILLEGAL_INSTRUCTION, CudaResult.MISALIGNED_ADDRESS, CudaResult.INVALID_ADDRESS_SPACE,
                    CudaResult.INVALID_PC, CudaResult.LAUNCH_FAILED, CudaResult.TENSOR_MEMORY_LEAK, BEHIND_MEMORY_LEAK ->
                true;
            default -> false;
        };
    }
}
