package io.tessera.software.fault;

/** Thrown by a thread's program to end the grid. The scheduler adds where it happened ({@link KernelFault}). */
public final class KernelTrap extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final FaultKind kind;

    /** Names the reason; {@code message} is for people. */
    public KernelTrap(FaultKind kind, String message) {
        super(message, null, false, false);
        this.kind = kind;
    }

    /** Returns the kind of the fault. */
    public FaultKind kind() {
        return kind;
    }
}
