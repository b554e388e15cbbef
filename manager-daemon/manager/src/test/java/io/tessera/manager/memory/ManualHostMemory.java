package io.tessera.manager.memory;

import io.tessera.os.memory.HostMemorySource;

/** A host's memory as the test says. */
public final class ManualHostMemory implements HostMemorySource {
    /** All of it. */
    public long totalBytes = 256L << 30;
    /** What is free. */
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
