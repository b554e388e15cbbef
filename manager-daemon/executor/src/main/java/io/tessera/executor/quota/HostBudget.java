package io.tessera.executor.quota;

import io.tessera.protocol.relay.RelayLayout;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The host memory for objects of all tenants of an executor. A tenant may have up to its share. A smaller part of the share is guaranteed; more than
 * that is given only while the sum over all tenants leaves room. So even if two tenants take all they can, the others get what they need.
 * Thread-safe.
 */
public final class HostBudget {
    /** A tenant's share of the heap, as a divisor: half of the heap is for images in files, and the garbage collector needs room. */
    private static final int HEAP_PER_TENANT = 4;
    private static final int HEAP_FOR_ALL = 2;
    private static final int HEAP_GUARANTEED = 32;
    /** Maximum share: a garbage collection takes a second or two for each GiB in use, and all clients wait for it. */
    private static final long MOST_PER_TENANT = 1L << 30;
    private static final long MOST_FOR_ALL = 4L << 30;

    private static final int MACHINE_FOR_DATA = 4;
    /** Maximum data of calls in transit for a tenant: that of two calls. */
    private static final long MOST_DATA_PER_TENANT = 2 * RelayLayout.BULK_MAX;
    private static final long DATA_GUARANTEED = 64L << 20;

    private final long perTenantBytes;
    private final long guaranteedBytes;
    private final long allBytes;
    private final AtomicLong used = new AtomicLong();

    /**
     * Creates a budget of the given parts in bytes.
     *
     * @param perTenantBytes  maximum for each tenant
     * @param guaranteedBytes guaranteed to each tenant, whatever the others have
     * @param allBytes        sum for all tenants, beyond which a tenant only gets what is guaranteed
     */
    public HostBudget(long perTenantBytes, long guaranteedBytes, long allBytes) {
        this.perTenantBytes = perTenantBytes;
        this.guaranteedBytes = guaranteedBytes;
        this.allBytes = allBytes;
    }

    /** Creates the budget for objects, by the size of the heap. */
    public static HostBudget ofHeap(long heapBytes) {
        return new HostBudget(Math.min(MOST_PER_TENANT, heapBytes / HEAP_PER_TENANT), Math.min(MOST_PER_TENANT, heapBytes / HEAP_GUARANTEED),
                Math.min(MOST_FOR_ALL, heapBytes / HEAP_FOR_ALL));
    }

    /** Creates the budget for data of calls in transit, by the size of the machine's memory. */
    public static HostBudget ofMachine(long machineBytes) {
        return new HostBudget(Math.min(MOST_DATA_PER_TENANT, machineBytes / MACHINE_FOR_DATA),
                Math.min(DATA_GUARANTEED, machineBytes / MACHINE_FOR_DATA),
                machineBytes / MACHINE_FOR_DATA);
    }

    /** Returns whether a tenant that would have this many bytes may take more of them now. */
    boolean allows(long wouldHave, long more) {
        return wouldHave <= perTenantBytes && (wouldHave <= guaranteedBytes || used.get() + more <= allBytes);
    }

    void add(long bytes) {
        used.addAndGet(bytes);
    }

    /** Returns the maximum for a tenant. */
    long perTenantBytes() {
        return perTenantBytes;
    }
}
