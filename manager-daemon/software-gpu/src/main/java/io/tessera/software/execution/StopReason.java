package io.tessera.software.execution;

/** Reason for which a thread stopped. */
public enum StopReason {
    /** It has ended. */
    EXIT,
    /** Its budget of loop passes is used up, or it waits for memory to change: it continues after other threads have run. */
    YIELD,
    /** It waits at a barrier of its block. */
    BARRIER,
    /** It waits at the barrier of its cluster. */
    CLUSTER,
    /** It waits for lanes of its warp. */
    WARP;

    /** A thread's status after this stop; 0 is that of a thread that may run. */
    public byte status() {
        return (byte) (ordinal() + 1);
    }
}
