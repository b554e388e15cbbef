package io.tessera.software.launch;

/** How a grid ended that had no fault. */
public enum LaunchOutcome {
    /** Every thread has exited. */
    COMPLETED,
    /** It was stopped through its {@link GridControl}. */
    CANCELLED
}
