package io.tessera.executor.quota;

/** One client's share of its tenant's account; given back as a whole when the client has left. Thread-safe. */
public final class ClientAccount {
    private static final Countable[] KINDS = Countable.values();

    private final TenantAccount tenant;
    private final long[] counts = new long[KINDS.length];
    /** Bytes beyond the fixed cost of each object. */
    private final long[] more = new long[KINDS.length];

    /** Creates an empty account. */
    public ClientAccount(TenantAccount tenant) {
        this.tenant = tenant;
    }

    /** Returns an account of the only client of a new tenant. */
    public static ClientAccount ofItsOwn() {
        return new ClientAccount(new TenantAccount(HostBudget.ofHeap(Runtime.getRuntime().maxMemory()), HostBudget.ofMachine(1L << 32)));
    }

    /** Returns why the client may not have one more; null if it may. */
    public String refusal(Countable kind) {
        return tenant.refusal(kind, 1, 0);
    }

    /** Returns why the client may not have this many more objects, with these bytes beyond the fixed cost of each; null if it may. */
    public String refusal(Countable kind, long count, long bytes) {
        return tenant.refusal(kind, count, bytes);
    }

    /** Changes the count regardless of the bound: the objects exist already. */
    public synchronized void add(Countable kind, long count, long bytes) {
        tenant.add(kind, count, bytes);
        has(kind, count, bytes);
    }

    private void has(Countable kind, long count, long bytes) {
        counts[kind.ordinal()] += count;
        more[kind.ordinal()] += bytes;
    }

    /** Counts one more object. */
    public void add(Countable kind) {
        add(kind, 1, 0);
    }

    /** Counts one object less. */
    public void remove(Countable kind) {
        add(kind, -1, 0);
    }

    /** Counts this many more objects if the client may have them. Returns null, or the reason why it may not. */
    public synchronized String take(Countable kind, long count, long bytes) {
        String refusal = tenant.take(kind, count, bytes);
        if (refusal == null) {
            has(kind, count, bytes);
        }
        return refusal;
    }

    /** Returns the tenant's account. */
    public TenantAccount tenant() {
        return tenant;
    }

    /** Gives everything back. The client has left, and all its objects are freed. */
    public synchronized void close() {
        for (Countable kind : KINDS) {
            add(kind, -counts[kind.ordinal()], -more[kind.ordinal()]);
        }
    }
}
