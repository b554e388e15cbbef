package io.tessera.software.launch;

/** Lets another thread stop a running grid: for a reset of the device, or when its client has died. Thread-safe. */
public final class GridControl {
    private volatile boolean cancelled;

    /** Stops the grid soon: every thread of it ends at its next stop, at the latest after its budget of loop passes. */
    public void cancel() {
        cancelled = true;
    }

    /** Returns whether {@link #cancel} was called. */
    public boolean isCancelled() {
        return cancelled;
    }
}
