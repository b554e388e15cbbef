package io.tessera.manager.executors;

/** The devices that executors serve ({@code --executors}). */
public enum ExecutorKind {
    /** Real devices if there are any, else a software GPU. */
    AUTO,
    /** Real devices only. */
    NVIDIA,
    /** Software GPUs. */
    SOFTWARE,
    /** No executors: clients that ask are told so. */
    NONE
}
