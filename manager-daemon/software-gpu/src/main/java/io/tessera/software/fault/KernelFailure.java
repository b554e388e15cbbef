package io.tessera.software.fault;

/**
 * A kernel could not be run to its end by a defect of the software GPU, or because the host had no more memory. Nothing that the
 * kernel may not do was done.
 */
public final class KernelFailure extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final boolean reported;

    /**
     * Describes it.
     *
     * @param cause    what happened
     * @param reported whether it stands in the report area of the kernel's fence, where the owner of the fence reads it
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
