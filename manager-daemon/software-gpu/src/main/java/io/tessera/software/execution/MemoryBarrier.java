package io.tessera.software.execution;

import io.tessera.software.fault.FaultKind;
import io.tessera.software.fault.KernelTrap;
import io.tessera.software.memory.RealMemory;

/**
 * The mbarrier object of PTX: 64 bits in shared memory, opaque to programs. This implementation's layout: pending arrivals in bits 0 to 19, expected arrivals
 * in 20 to 39, pending bytes of transactions (two's complement) in 40 to 61, parity of the phase in 62. Addresses are real and checked. Stateless; atomic
 * across host threads.
 */
public final class MemoryBarrier {
    /** Arrivals that an mbarrier can count, from the PTX ISA. */
    public static final long MAX_COUNT = (1 << 20) - 1;
    private static final int EXPECTED_SHIFT = 20;
    private static final int TRANSACTION_SHIFT = 40;
    private static final long TRANSACTION_MASK = (1L << 22) - 1;
    private static final long PHASE = 1L << 62;

    private MemoryBarrier() {
    }

    private static long pack(long pending, long expected, long transactions, long phase) {
        return pending | expected << EXPECTED_SHIFT | (transactions & TRANSACTION_MASK) << TRANSACTION_SHIFT | phase;
    }

    /** {@code mbarrier.init}. */
    public static void initialise(long address, long count) {
        if (count < 1 || count > MAX_COUNT) {
            throw new KernelTrap(FaultKind.ILLEGAL_INSTRUCTION, "mbarrier.init with count " + count);
        }
        RealMemory.putLongVolatile(address, pack(count, count, 0, 0));
    }

    /**
     * {@code mbarrier.arrive} and its relatives, in one step.
     *
     * @param arrivals     by how much pending arrivals go down
     * @param drop         by how much the expected arrivals of later phases go down
     * @param transactions by how much pending bytes go up; negative when they complete
     * @return the state before: what {@link #isComplete} takes
     */
    public static long arrive(long address, long arrivals, long drop, long transactions) {
        while (true) {
            long before = RealMemory.getLongVolatile(address);
            long expected = (before >>> EXPECTED_SHIFT & MAX_COUNT) - drop;
            long pending = (before & MAX_COUNT) - arrivals;
            long bytes = (before << 64 - TRANSACTION_SHIFT - 22 >> 64 - 22) + transactions;
            if (pending < 0 || expected < 0) {
                throw new KernelTrap(FaultKind.ILLEGAL_INSTRUCTION, "more arrivals at an mbarrier than it expects");
            }
            long phase = before & PHASE;
            long after = pending == 0 && bytes == 0 ? pack(expected, expected, 0, phase ^ PHASE)
                    : pack(pending, expected, bytes, phase);
            if (RealMemory.compareAndExchangeLong(address, before, after) == before) {
                return before;
            }
        }
    }

    /** {@code mbarrier.pending_count} of a state. */
    public static int pendingCount(long state) {
        return (int) (state & MAX_COUNT);
    }

    /** Returns whether the phase of a state, as {@link #arrive} returned it, has completed. */
    public static boolean isComplete(long address, long state) {
        return ((RealMemory.getLongVolatile(address) ^ state) & PHASE) != 0;
    }

    /** Returns whether the phase of a parity has completed: the present one has the other parity. */
    public static boolean isParityComplete(long address, long parity) {
        return (RealMemory.getLongVolatile(address) & PHASE) != 0 != ((parity & 1) != 0);
    }
}
