package io.tessera.software.driver.work;

import io.tessera.device.CudaError;
import java.util.HashSet;
import java.util.Set;

/**
 * The error that a context is lost to, if any: the first one stays for ever, as the driver documents, and stops what
 * runs in the context. Thread-safe.
 */
public final class FaultState {
    private final Set<Runnable> running = new HashSet<>();
    private volatile CudaError error;

    /** Loses the context to an error; a later one changes nothing. */
    public void raise(CudaError cause) {
        Set<Runnable> stopped;
        synchronized (this) {
            if (error != null) {
                return;
            }
            error = cause;
            stopped = Set.copyOf(running);
        }
        stopped.forEach(Runnable::run);
    }

    /** Has something stopped when the context is lost; at once if it is. */
    public void stopWhenLost(Runnable stop) {
        synchronized (this) {
            if (error == null) {
                running.add(stop);
                return;
            }
        }
        stop.run();
    }

    /** The running work has ended. */
    public synchronized void ended(Runnable stop) {
        running.remove(stop);
    }

    /** Returns the error, or null while the context works. */
    public CudaError error() {
        return error;
    }

    /** Returns whether the context is lost. */
    public boolean lost() {
        return error != null;
    }
}
