package io.tessera.software.driver.work;

import io.tessera.software.driver.abi.CudaError;
import java.util.concurrent.atomic.AtomicReference;

/** The error that a context is lost to, if any: the first one stays for ever, as the driver documents. Thread-safe. */
public final class FaultState {
    private final AtomicReference<CudaError> error = new AtomicReference<>();

    /** Loses the context to an error; a later one changes nothing. */
    public void raise(CudaError cause) {
        error.compareAndSet(null, cause);
    }

    /** The error, or null while the context works. */
    public CudaError error() {
        return error.get();
    }

    /** Whether the context is lost. */
    public boolean lost() {
        return error.get() != null;
    }
}
