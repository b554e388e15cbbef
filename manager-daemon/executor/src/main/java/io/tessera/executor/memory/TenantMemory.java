package io.tessera.executor.memory;

import java.util.concurrent.atomic.AtomicLong;

/** Counts the device memory of all clients of one tenant in this executor against the tenant's limit. Thread-safe. */
public final class TenantMemory {
    private final AtomicLong used = new AtomicLong();
    private volatile long limitBytes;

    /** Creates an instance with a limit in bytes; 0: none. */
    public TenantMemory(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    /** Returns the limit in bytes; 0: none. */
    public long limitBytes() {
        return limitBytes;
    }

    /** Sets the limit; what is in use stays. */
    public void limitBytes(long bytes) {
        limitBytes = bytes;
    }

    /** Takes this many bytes, or returns false if the limit forbids it. */
    public boolean take(long bytes) {
        long limit = limitBytes;
        long before = used.getAndAdd(bytes);
        if (bytes < 0 || limit != 0 && (before + bytes > limit || before + bytes < 0)) {
            used.addAndGet(-bytes);
            return false;
        }
        return true;
    }

    /** Takes this many bytes whatever the limit, since they are already in use. Their user will give them back. */
    public void keep(long bytes) {
        used.addAndGet(bytes);
    }

    /** Gives this many bytes back. */
    public void giveBack(long bytes) {
        used.addAndGet(-bytes);
    }

    /** Bytes in use. */
    public long usedBytes() {
        return used.get();
    }
}
