package io.tessera.agent.boot;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A live allocation, which is also the phantom reference to its Java owner: recording an allocation creates this object and no other. All
 * fields except the chain are immutable; the chain belongs to {@link AllocationTable}.
 */
public final class Allocation extends PhantomReference<Object> {
    /** Maximum number of Java objects that hold the address; with more, the owner counts as unknown. */
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

    /** Records that another object holds the address. False: there are too many, and none is tracked any longer. */
    boolean gainOwner() {
        if (owners.incrementAndGet() > MOST_OWNERS) {
            owners.set(UNKNOWN);
        }
        return owners.get() > 0;
    }

    void loseOwner() {
        owners.decrementAndGet();
    }

    /** Returns whether every Java object that held the address was collected; also false if that is unknown. */
    boolean ownerCollected() {
        return owners.get() == 0;
    }

    /**
     * Returns the address.
     *
     * @return the address
     */
    public long address() {
        return address;
    }

    /**
     * Returns the size.
     *
     * @return bytes
     */
    public long bytes() {
        return bytes;
    }

    /**
     * Returns the kind of memory.
     *
     * @return the kind
     */
    public MemoryKind kind() {
        return kind;
    }

    /**
     * Returns the call site of the allocation.
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
