package io.tessera.software.driver.memory;

import io.tessera.device.CudaEnums.PoolAttribute;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/**
 * A pool of stream-ordered allocations. Memory is taken from the device's arena by an allocation and given back when it is freed, so a pool reserves exactly
 * the memory in use; the release threshold is kept without effect. Thread-safe.
 */
public final class Pool {
    private final long maxBytes;
    private final long[] reuse = {0, 1, 1, 1};
    private long threshold;
    private long used;
    private long high;
    private boolean destroyed;

    /** A pool; 0 bytes mean no limit of its own. */
    public Pool(long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /** Counts an allocation. */
    public synchronized void charge(long bytes) {
        DriverException.require(!destroyed, CudaError.INVALID_VALUE);
        DriverException.require(maxBytes == 0 || used + bytes <= maxBytes, CudaError.OUT_OF_MEMORY);
        used += bytes;
        high = Math.max(high, used);
    }

    /** Takes back what {@link #charge} counted. */
    public synchronized void discharge(long bytes) {
        used -= bytes;
    }

    /** Ends it: no allocation is made from it any more; those there are live on. */
    public synchronized void destroy() {
        destroyed = true;
    }

    /** Returns whether an attribute is an int in the interface; the others are 64 bits. */
    public static boolean isInt(int attribute) {
        return attribute >= PoolAttribute.REUSE_FOLLOW_EVENT_DEPENDENCIES && attribute < PoolAttribute.RELEASE_THRESHOLD;
    }

    /** Returns the value of an attribute. */
    public synchronized long get(int attribute) {
        return switch (attribute) {
            case PoolAttribute.REUSE_FOLLOW_EVENT_DEPENDENCIES, PoolAttribute.REUSE_ALLOW_OPPORTUNISTIC,
                    PoolAttribute.REUSE_ALLOW_INTERNAL_DEPENDENCIES ->
                reuse[attribute];
            case PoolAttribute.RELEASE_THRESHOLD -> threshold;
            case PoolAttribute.RESERVED_MEM_CURRENT, PoolAttribute.USED_MEM_CURRENT -> used;
            case PoolAttribute.RESERVED_MEM_HIGH, PoolAttribute.USED_MEM_HIGH -> high;
            default -> throw new DriverException(CudaError.INVALID_VALUE);
        };
    }

    /** Sets an attribute; the marks of high water can only be set back. */
    public synchronized void set(int attribute, long value) {
        switch (attribute) {
            case PoolAttribute.REUSE_FOLLOW_EVENT_DEPENDENCIES, PoolAttribute.REUSE_ALLOW_OPPORTUNISTIC,
                    PoolAttribute.REUSE_ALLOW_INTERNAL_DEPENDENCIES ->
                reuse[attribute] = value;
            case PoolAttribute.RELEASE_THRESHOLD -> threshold = value;
            case PoolAttribute.RESERVED_MEM_HIGH, PoolAttribute.USED_MEM_HIGH -> {
                DriverException.require(value == 0, CudaError.INVALID_VALUE);
                high = used;
            }
            default -> throw new DriverException(CudaError.INVALID_VALUE);
        }
    }
}
