package io.tessera.software.launch;

/** Outcome of a grid without a fault. */
public enum LaunchOutcome {
    /** Every thread has exited. */
    COMPLETED,
    /** The grid was stopped through its {@link GridControl}. */
    CANCELLED
}
