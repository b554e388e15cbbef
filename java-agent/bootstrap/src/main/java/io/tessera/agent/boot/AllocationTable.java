package io.tessera.agent.boot;

import java.util.function.Consumer;

/**
 * Live allocations by address. The allocations themselves form the chains, so the table creates no objects. Any thread: the chains
 * are guarded by {@value #STRIPES} locks, held for a few steps. Its capacity is fixed.
 */
final class AllocationTable {
    private static final int STRIPES = 64;
    private static final int CHAINS = 1 << 12;

    private final Object[] locks = new Object[STRIPES];
    private final Allocation[] chains = new Allocation[CHAINS];
    private final int[] sizes = new int[STRIPES];
    private final int mostPerStripe;

    AllocationTable(int most) {
        mostPerStripe = Math.max(1, most / STRIPES);
        for (int i = 0; i < STRIPES; i++) {
            locks[i] = new Object();
        }
    }

    private static int chain(long address) {
        // Device addresses are multiples of 256 at least; Fibonacci hashing spreads what is left (Knuth, vol. 3, 6.4).
        return (int) ((address >>> 8) * 0x9E3779B97F4A7C15L >>> 52);
    }

    /** Adds an allocation. It replaces one at the same address, whose free was missed. False: the table is full. */
    boolean add(Allocation allocation) {
        int chain = chain(allocation.address);
        int stripe = chain & STRIPES - 1;
        synchronized (locks[stripe]) {
            take(chain, stripe, allocation.address);
            if (sizes[stripe] >= mostPerStripe) {
                return false;
            }
            allocation.next = chains[chain];
            chains[chain] = allocation;
            sizes[stripe]++;
            return true;
        }
    }

    /** Removes and returns the allocation at an address; null: there is none. */
    Allocation remove(long address) {
        int chain = chain(address);
        int stripe = chain & STRIPES - 1;
        synchronized (locks[stripe]) {
            return take(chain, stripe, address);
        }
    }

    /** Removes exactly this allocation. False: it is no longer in the table. */
    boolean remove(Allocation allocation) {
        int chain = chain(allocation.address);
        int stripe = chain & STRIPES - 1;
        synchronized (locks[stripe]) {
            Allocation there = chains[chain];
            while (there != null && there != allocation) {
                there = there.next;
            }
            return there != null && take(chain, stripe, allocation.address) == allocation;
        }
    }

    Allocation find(long address) {
        int chain = chain(address);
        synchronized (locks[chain & STRIPES - 1]) {
            Allocation there = chains[chain];
            while (there != null && there.address != address) {
                there = there.next;
            }
            return there;
        }
    }

    private Allocation take(int chain, int stripe, long address) {
        Allocation before = null;
        for (Allocation there = chains[chain]; there != null; before = there, there = there.next) {
            if (there.address == address) {
                if (before == null) {
                    chains[chain] = there.next;
                } else {
                    before.next = there.next;
                }
                there.next = null;
                sizes[stripe]--;
                return there;
            }
        }
        return null;
    }

    /** Visits each allocation; the visitor must not use the table. */
    void forEach(Consumer<Allocation> visitor) {
        for (int chain = 0; chain < CHAINS; chain++) {
            synchronized (locks[chain & STRIPES - 1]) {
                for (Allocation there = chains[chain]; there != null; there = there.next) {
                    visitor.accept(there);
                }
            }
        }
    }

    int size() {
        int sum = 0;
        for (int i = 0; i < STRIPES; i++) {
            synchronized (locks[i]) {
                sum += sizes[i];
            }
        }
        return sum;
    }
}
