package io.tessera.manager.executors;

/** Which devices executors serve ({@code --executors}). */
public enum ExecutorKind {
    /** Real devices if there are any, else one in software. */
    AUTO,
    /** Real devices alone. */
    NVIDIA,
    /** Devices in software. */
    SOFTWARE,
    /** No executors: clients that ask get this answer. */
    NONE
}
