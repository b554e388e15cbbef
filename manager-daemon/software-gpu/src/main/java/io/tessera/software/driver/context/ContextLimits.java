package io.tessera.software.driver.context;

import io.tessera.device.CudaEnums.CachePreference;
import io.tessera.device.CudaEnums.ContextLimit;
import io.tessera.device.CudaEnums.SharedMemoryBanks;
import io.tessera.device.CudaError;
import io.tessera.software.driver.abi.DriverException;

/** Sizes that programs set and read (CUlimit), and preferences that have no effect here. Thread-safe. */
public final class ContextLimits {
    /** By CUlimit: what a context of compute capability 9.0 begins with; the software GPU has no persisting cache. */
    private final long[] values = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
    private int cacheConfig;
    private int sharedConfig;

    /** Returns the value of a limit. */
    public synchronized long get(int limit) {
        check(limit);
        return values[limit];
    }

    /** Sets a limit. */
    public synchronized void set(int limit, long value) {
        check(limit);
        DriverException.require(value >= 0, CudaError.INVALID_VALUE);
        switch (limit) {
            case ContextLimit.STACK_SIZE, ContextLimit.PRINTF_FIFO_SIZE, ContextLimit.MALLOC_HEAP_SIZE, ContextLimit.DEV_RUNTIME_SYNC_DEPTH,
                    ContextLimit.DEV_RUNTIME_PENDING_LAUNCH_COUNT ->
                values[limit] = value;
            case ContextLimit.MAX_L2_FETCH_GRANULARITY -> values[limit] = Math.min(value, 128);
            case ContextLimit.PERSISTING_L2_CACHE_SIZE -> values[limit] = 0;
            default -> throw new DriverException(CudaError.UNSUPPORTED_LIMIT);
        }
    }

    private void check(int limit) {
        DriverException.require(limit >= 0 && limit < values.length, CudaError.UNSUPPORTED_LIMIT);
    }

    /** Returns the bytes of text that a stream keeps until the program waits for it. */
    public long printBytes() {
        return get(ContextLimit.PRINTF_FIFO_SIZE);
    }

    /** CUfunc_cache. */
    public synchronized int cacheConfig() {
        return cacheConfig;
    }

    /** Sets CUfunc_cache. */
    public synchronized void setCacheConfig(int config) {
        DriverException.require(config >= 0 && config <= CachePreference.EQUAL, CudaError.INVALID_VALUE);
        cacheConfig = config;
    }

    /** CUsharedconfig. */
    public synchronized int sharedConfig() {
        return sharedConfig;
    }

    /** Sets CUsharedconfig. */
    public synchronized void setSharedConfig(int config) {
        DriverException.require(config >= 0 && config <= SharedMemoryBanks.EIGHT_BYTE_BANK_SIZE, CudaError.INVALID_VALUE);
        sharedConfig = config;
    }
}
