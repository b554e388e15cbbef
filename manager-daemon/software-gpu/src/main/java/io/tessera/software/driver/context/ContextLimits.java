package io.tessera.software.driver.context;

import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/** Sizes that programs set and read (CUlimit), and preferences that have no effect here. Thread-safe. */
public final class ContextLimits {
    private static final int STACK = 0;
    private static final int PRINTF_FIFO = 1;
    private static final int HEAP = 2;
    private static final int SYNC_DEPTH = 3;
    private static final int PENDING_LAUNCHES = 4;
    private static final int FETCH_GRANULARITY = 5;
    private static final int PERSISTING_L2 = 6;

    /** By CUlimit: what a context of compute capability 9.0 begins with; the software GPU has no persisting cache. */
    private final long[] values = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
    private int cacheConfig;
    private int sharedConfig;

    /** The value of a limit. */
    public synchronized long get(int limit) {
        check(limit);
        return values[limit];
    }

    /** Sets a limit. */
    public synchronized void set(int limit, long value) {
        check(limit);
        DriverException.require(value >= 0, CudaError.INVALID_VALUE);
        switch (limit) {
            case STACK, PRINTF_FIFO, HEAP, SYNC_DEPTH, PENDING_LAUNCHES -> values[limit] = value;
            case FETCH_GRANULARITY -> values[limit] = Math.min(value, 128);
            case PERSISTING_L2 -> values[limit] = 0;
            default -> throw new DriverException(CudaError.UNSUPPORTED_LIMIT);
        }
    }

    private void check(int limit) {
        DriverException.require(limit >= 0 && limit < values.length, CudaError.UNSUPPORTED_LIMIT);
    }

    /** Bytes of text that a stream keeps until somebody waits. */
    public long printBytes() {
        return get(PRINTF_FIFO);
    }

    /** CUfunc_cache. */
    public synchronized int cacheConfig() {
        return cacheConfig;
    }

    /** Sets CUfunc_cache. */
    public synchronized void setCacheConfig(int config) {
        DriverException.require(config >= 0 && config <= 3, CudaError.INVALID_VALUE);
        cacheConfig = config;
    }

    /** CUsharedconfig. */
    public synchronized int sharedConfig() {
        return sharedConfig;
    }

    /** Sets CUsharedconfig. */
    public synchronized void setSharedConfig(int config) {
        DriverException.require(config >= 0 && config <= 2, CudaError.INVALID_VALUE);
        sharedConfig = config;
    }
}
