package io.tessera.software.driver.memory;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/** Memory without an address (cuMemCreate): one handle of the arena, shared by the references that the program holds. */
public final class PhysicalMemory {
    private final long handle;
    private final long bytes;
    private final byte[] properties;
    private int references = 1;

    /**
     * Describes it.
     *
     * @param handle     of the arena
     * @param properties CUmemAllocationProp as the program gave it
     */
    PhysicalMemory(long handle, long bytes, byte[] properties) {
        this.handle = handle;
        this.bytes = bytes;
        this.properties = properties.clone();
    }

    /** Returns the arena's handle. */
    public long handle() {
        return handle;
    }

    /** Returns its size. */
    public long bytes() {
        return bytes;
    }

    /** CUmemAllocationProp as the program gave it. */
    public byte[] properties() {
        return properties.clone();
    }

    /** Adds a reference, to memory that is mapped; true if it is the only one, since the others were dropped. */
    synchronized boolean retain() {
        return ++references == 1;
    }

    /** Drops a reference; true if it was the last. */
    synchronized boolean release() {
        DriverException.require(references > 0, CudaError.INVALID_VALUE);
        return --references == 0;
    }
}
