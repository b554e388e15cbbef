package io.tessera.executor.memory;

/** Memory that one client has taken of its tenant's limit. Changed by its owner thread; readable by any. */
public final class ClientCharge {
    private final TenantMemory tenant;
    private volatile long usedBytes;

    /** Creates an empty charge. */
    public ClientCharge(TenantMemory tenant) {
        this.tenant = tenant;
    }

    /** Returns the tenant's account. */
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

    /** Gives everything back when the client has left. */
    public void close() {
        giveBack(usedBytes);
    }
}
