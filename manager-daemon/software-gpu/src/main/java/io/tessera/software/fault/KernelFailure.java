package io.tessera.software.fault;

/**
 * A kernel could not be run to its end because of a defect of the software GPU, or because the host had no more memory. The kernel itself did nothing illegal.
 */
public final class KernelFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean reported;

    /**
     * Creates the failure.
     *
     * @param cause    the error
     * @param reported whether it was written to the report area of the kernel's fence, where the owner of the fence reads it
     */
    public KernelFailure(Throwable cause, boolean reported) {
        super(cause.toString(), cause);
        this.reported = reported;
    }

    /** Returns whether the owner of the kernel's fence is told. */
    public boolean reported() {
        return reported;
    }
}
