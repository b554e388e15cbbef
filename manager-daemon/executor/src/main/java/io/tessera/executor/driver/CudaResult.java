package io.tessera.executor.driver;

/** The {@code CUresult} values that the executor decides by or answers itself (cuda.h). */
public final class CudaResult {
    /** CUDA_SUCCESS. */
    public static final int SUCCESS = 0;
    /** CUDA_ERROR_INVALID_VALUE. */
    public static final int INVALID_VALUE = 1;
    /** CUDA_ERROR_OUT_OF_MEMORY. */
    public static final int OUT_OF_MEMORY = 2;
    /** CUDA_ERROR_INVALID_DEVICE. */
    public static final int INVALID_DEVICE = 101;
    /** CUDA_ERROR_INVALID_IMAGE. */
    public static final int INVALID_IMAGE = 200;
    /** CUDA_ERROR_INVALID_CONTEXT. */
    public static final int INVALID_CONTEXT = 201;
    /** CUDA_ERROR_INVALID_PTX. */
    public static final int INVALID_PTX = 218;
    /** CUDA_ERROR_INVALID_HANDLE. */
    public static final int INVALID_HANDLE = 400;
    /** CUDA_ERROR_NOT_FOUND. */
    public static final int NOT_FOUND = 500;
    /** CUDA_ERROR_NOT_READY: no error, the work is not done yet. */
    public static final int NOT_READY = 600;
    /** CUDA_ERROR_ILLEGAL_ADDRESS. */
    public static final int ILLEGAL_ADDRESS = 700;
    /** CUDA_ERROR_LAUNCH_TIMEOUT. */
    public static final int LAUNCH_TIMEOUT = 702;
    /** CUDA_ERROR_CONTEXT_IS_DESTROYED. */
    public static final int CONTEXT_IS_DESTROYED = 709;
    /** CUDA_ERROR_NOT_PERMITTED. */
    public static final int NOT_PERMITTED = 800;
    /** CUDA_ERROR_NOT_SUPPORTED. */
    public static final int NOT_SUPPORTED = 801;
    /** CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED. */
    public static final int CAPTURE_UNSUPPORTED = 900;
    /** CUDA_ERROR_STREAM_CAPTURE_INVALIDATED. */
    public static final int CAPTURE_INVALIDATED = 901;
    /** CUDA_ERROR_FUNCTION_NOT_LOADED. */
    public static final int FUNCTION_NOT_LOADED = 913;
    /** CUDA_ERROR_UNKNOWN. */
    public static final int UNKNOWN = 999;

    private CudaResult() {
    }

    /**
     * Whether the context is lost with everything in it: the errors of which cuda.h says that the process must end to
     * use CUDA again, and those of broken hardware.
     */
    public static boolean isFatal(int result) {
        return switch (result) {
            case 214, 220, 226, 227 -> true; // uncorrectable ECC, NVLink, contained, uncontained
            case 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 722 -> true; // exceptions and timeouts of kernels
            default -> false;
        };
    }
}
