package io.tessera.software.launch;

/** A launch that the device cannot do as asked; nothing has run. */
public final class LaunchRefusedException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The reason; the device layer turns it into the CUDA error named here. */
    public enum Reason {
        /** Zero or too large extents: CUDA_ERROR_INVALID_VALUE (1). */
        INVALID_VALUE,
        /** More threads or memory than a block can have: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701). */
        OUT_OF_RESOURCES,
        /** Not all blocks can be resident at once: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE (720). */
        COOPERATIVE_TOO_LARGE,
        /** A grid that its clusters do not divide: CUDA_ERROR_INVALID_CLUSTER_SIZE (912). */
        INVALID_CLUSTER
    }

    private final Reason reason;

    /** Creates an instance with the reason; {@code message} contains the requested value and the limit. */
    public LaunchRefusedException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** Returns the reason. */
    public Reason reason() {
        return reason;
    }
}
