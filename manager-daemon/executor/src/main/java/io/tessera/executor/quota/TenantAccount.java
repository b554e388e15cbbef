package io.tessera.executor.quota;

/** Objects of all clients of one tenant in the executor, with the tenant's bounds. Thread-safe. */
public final class TenantAccount {
    private static final int KINDS = Countable.values().length;
    private static final String REMEDY = "; destroy what is not needed any more, or start a part of the programs with another --name";

    private final HostBudget budget;
    private final long[] counts = new long[KINDS];
    private final HostBudget forData;
    private long bytes;
    private long dataBytes;

    /**
     * Creates an empty account.
     *
     * @param budget  for objects
     * @param forData for data of calls in transit
     */
    public TenantAccount(HostBudget budget, HostBudget forData) {
        this.budget = budget;
        this.forData = forData;
    }

    /**
     * Returns why the tenant may not have this many more; null if it may.
     *
     * @param more bytes beside the fixed cost of each
     */
    synchronized String refusal(Countable kind, long count, long more) {
        long wouldHave = counts[kind.ordinal()] + count;
        if (count > 0 && wouldHave > kind.most()) {
            return "a tenant may have " + kind.most() + " " + kind.plural() + ", and this one has " + counts[kind.ordinal()] + REMEDY;
        }
        long taken = cost(kind, count, more);
        if (taken > 0 && !budget.allows(bytes + taken, taken)) {
            return "the objects of a tenant may take " + (budget.perTenantBytes() >> 20)
                    + " MiB of the executor's memory, or less while others use it; "
                    + "those of this one take " + (bytes >> 20) + " MiB, and " + taken + " bytes more were asked for " + kind.plural() + REMEDY;
        }
        return null;
    }

    /** Counts this many more objects if the tenant may have them. Returns null, or the reason why it may not. */
    synchronized String take(Countable kind, long count, long more) {
        String refusal = refusal(kind, count, more);
        if (refusal == null) {
            add(kind, count, more);
        }
        return refusal;
    }

    /** Counts this many more, or fewer. */
    synchronized void add(Countable kind, long count, long more) {
        counts[kind.ordinal()] += count;
        long taken = cost(kind, count, more);
        bytes += taken;
        budget.add(taken);
    }

    /** Takes room for data of a call in transit, or gives some back (negative). Returns null, or the reason why there is no room. */
    public synchronized String data(long more) {
        if (more > 0 && !forData.allows(dataBytes + more, more)) {
            return "data of calls on their way may take " + (forData.perTenantBytes() >> 20)
                    + " MiB for a tenant, or less while others use it; this one's take "
                    + (dataBytes >> 20) + " MiB; pass less in one call, or let fewer threads make such calls at a time";
        }
        dataBytes += more;
        forData.add(more);
        return null;
    }

    static long cost(Countable kind, long count, long more) {
        return count * kind.bytesEach() + more;
    }

    /** Returns how many objects of a kind the tenant has. */
    public synchronized long count(Countable kind) {
        return counts[kind.ordinal()];
    }

    /** Returns the host memory that all objects of the tenant are assumed to need, in bytes. */
    public synchronized long bytes() {
        return bytes;
    }
}
