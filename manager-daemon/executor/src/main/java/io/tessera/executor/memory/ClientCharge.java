package io.tessera.executor.memory;

/** What one client has taken of its tenant's memory. Taken by its owner thread; readable by any. */
public final class ClientCharge {
    private final TenantMemory tenant;
    private volatile long usedBytes;

    /** Nothing yet. */
    public ClientCharge(TenantMemory tenant) {
        this.tenant = tenant;
    }

    /** The tenant's account. */
    public TenantMemory tenant() {
        return tenant;
    }

    /** Takes this many bytes, or returns false if the tenant's limit forbids it. */
    public boolean take(long bytes) {
        if (!tenant.take(bytes)) {
            return false;
        }
        usedBytes = usedBytes + bytes;
        return true;
    }

    /** Gives this many bytes back. */
    public void giveBack(long bytes) {
        tenant.giveBack(bytes);
        usedBytes = usedBytes - bytes;
    }

    /** Bytes in use by this client. */
    public long usedBytes() {
        return usedBytes;
    }

    /** Gives everything back, when the client is gone. */
    public void close() {
        giveBack(usedBytes);
    }
}
