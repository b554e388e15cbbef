package io.tessera.guardian.heap;

/**
 * A snapshot of a heap, in bytes. Immutable.
 *
 * @param liveCount        allocations, without reservations
 * @param liveBytes        their requested sizes
 * @param roundedBytes     their sizes rounded up to 256 bytes or 4 KiB
 * @param committedBytes   physical memory in the range, without the sink
 * @param reclaimableBytes the part of it that {@link WindowHeap#trim} would release at least
 * @param reservedBytes    address ranges that the program maps itself
 * @param chargedBytes     physical memory that the program created itself and that counts against the quota
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
