package io.tessera.executor.fence;

import java.io.Serial;

/** A program is not loaded: what the client is answered, and why in words for its user. Without a stack trace. */
public final class ProgramRefusedException extends Exception {
    /** CUDA_ERROR_INVALID_PTX. */
    static final int INVALID_PTX = 218;
    /** CUDA_ERROR_NO_BINARY_FOR_GPU. */
    static final int NO_BINARY = 209;

    @Serial
    private static final long serialVersionUID = 1L;

    private final int result;

    /** With the CUresult and a sentence. */
    public ProgramRefusedException(int result, String reason) {
        super(reason, null, false, false);
        this.result = result;
    }

    /** The CUresult. */
    public int result() {
        return result;
    }
}
