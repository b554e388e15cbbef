package io.tessera.agent.boot;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One live allocation, and in the same object the phantom reference to its Java owner: recording an allocation creates
 * this and nothing else. Fields but the chain are immutable; the chain belongs to {@link AllocationTable}.
 */
public final class Allocation extends PhantomReference<Object> {
    /** More Java objects that hold the address than this, and the owner counts as unknown. */
    private static final int MOST_OWNERS = 64;
    private static final int UNKNOWN = Integer.MIN_VALUE / 2;

    final long address;
    final long bytes;
    final MemoryKind kind;
    final Site site;
    final long threadId;
    final long bornNanos;
    Allocation next;
    private final AtomicInteger owners;

    Allocation(Object owner, ReferenceQueue<Object> collected, long address, long bytes, MemoryKind kind, Site site,
            long threadId, long bornNanos) {
        super(owner, collected);
        this.address = address;
        this.bytes = bytes;
        this.kind = kind;
        this.site = site;
        this.threadId = threadId;
        this.bornNanos = bornNanos;
        this.owners = new AtomicInteger(owner == null ? UNKNOWN : 1);
    }

    /** Another object holds the address too. False: there are too many, and none is followed any more. */
    boolean gainOwner() {
        if (owners.incrementAndGet() > MOST_OWNERS) {
            owners.set(UNKNOWN);
        }
        return owners.get() > 0;
    }

    void loseOwner() {
        owners.decrementAndGet();
    }

    /** Whether every Java object that held the address was collected; false also where that cannot be known. */
    boolean ownerCollected() {
        return owners.get() == 0;
    }

    /**
     * Where it lies.
     *
     * @return the address
     */
    public long address() {
        return address;
    }

    /**
     * Its size.
     *
     * @return bytes
     */
    public long bytes() {
        return bytes;
    }

    /**
     * What memory it is.
     *
     * @return the kind
     */
    public MemoryKind kind() {
        return kind;
    }

    /**
     * The call site that allocated it.
     *
     * @return the call site
     */
    public Site site() {
        return site;
    }

    /** Another object that was derived from the owner, a pointer with an offset for example. */
    static final class Derived extends PhantomReference<Object> {
        final Allocation allocation;

        Derived(Object object, ReferenceQueue<Object> collected, Allocation allocation) {
            super(object, collected);
            this.allocation = allocation;
        }
    }
}
