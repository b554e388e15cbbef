package io.tessera.software.driver.graph;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/** An object of the program whose destructor the driver calls with the last reference. Thread-safe. */
public final class UserObject {
    private final Runnable destructor;
    private long references;

    /** Creates an instance with a number of references, which the program holds. */
    public UserObject(long references, Runnable destructor) {
        DriverException.require(references > 0 && references <= Integer.MAX_VALUE, CudaError.INVALID_VALUE);
        this.references = references;
        this.destructor = destructor;
    }

    /** Adds references. */
    public synchronized void retain(long count) {
        DriverException.require(count > 0 && references > 0, CudaError.INVALID_VALUE);
        references += count;
    }

    /** Drops references; true if the last one went, and with it the object. */
    public boolean release(long count) {
        synchronized (this) {
            DriverException.require(count > 0 && count <= references, CudaError.INVALID_VALUE);
            references -= count;
            if (references > 0) {
                return false;
            }
        }
        destructor.run();
        return true;
    }
}
