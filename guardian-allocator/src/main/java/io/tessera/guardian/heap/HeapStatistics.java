package io.tessera.guardian.heap;

/**
 * A heap at one moment, in bytes. Immutable.
 *
 * @param liveCount        allocations, without reservations
 * @param liveBytes        as they were asked for
 * @param roundedBytes     as they were handed out: rounded up to 256 bytes or 4 KiB
 * @param committedBytes   physical memory in the range, without the sink
 * @param reclaimableBytes of it, what {@link WindowHeap#trim} would give back at least
 * @param reservedBytes    address ranges that the program maps itself
 * @param chargedBytes     physical memory that the program made itself and that counts against the quota
 * @param quotaBytes       {@link WindowHeap#UNLIMITED} for none
 * @param largestFreeBytes the largest allocation that needs no new memory
 */
public record HeapStatistics(long liveCount, long liveBytes, long roundedBytes, long committedBytes,
        long reclaimableBytes, long reservedBytes, long chargedBytes, long quotaBytes,
        long largestFreeBytes) {
    /**
     * The share of the physical memory in use that holds nothing live: what rounding and holes between allocations
     * cost. 0 to 1; memory that could be given back at once is not in use.
     */
    public double fragmentation() {
        long used = committedBytes - reclaimableBytes;
        return used == 0 ? 0 : 1 - (double) liveBytes / used;
    }
}
