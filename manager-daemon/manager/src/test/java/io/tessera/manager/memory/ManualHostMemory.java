package io.tessera.manager.memory;

import io.tessera.os.memory.HostMemorySource;

/** Host memory chosen by the test. */
public final class ManualHostMemory implements HostMemorySource {
    /** All memory. */
    public long totalBytes = 256L << 30;
    /** Free memory. */
    public long availableBytes = 200L << 30;

    @Override
    public long totalBytes() {
        return totalBytes;
    }

    @Override
    public long availableBytes() {
        return availableBytes;
    }
}
