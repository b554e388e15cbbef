package io.tessera.guardian.heap;

/**
 * Sizes and growth parameters of a heap. Immutable.
 *
 * @param rangeBytes   size of the range that the heap manages, a multiple of the granule
 * @param granuleBytes unit of commit and decommit, a power of two and at least {@link #SPAN_BYTES}: the device's granularity or, where only whole
 *                     sink mappings can be replaced, the window's slot
 * @param minGrowBytes least size of a growth where quota and addresses allow it, because each growth stops the tenant's kernels; 0 commits only the
 *                     memory that is needed
 * @param maxGrowBytes upper bound of a growth that exceeds the need; between the two bounds, a growth is an eighth of the committed memory
 */
public record HeapSettings(long rangeBytes, long granuleBytes, long minGrowBytes, long maxGrowBytes) {
    /** The smallest granule, which is that of NVIDIA GPUs; small allocations lie in arenas of this size. */
    public static final long SPAN_BYTES = 1L << HeapSettings.SPAN_LOG2;

    static final int SPAN_LOG2 = 21;

    /** The unit of all but small allocations; windows of 4 TiB have as many as an int can count. */
    static final int PAGE_LOG2 = 12;

    /** Every allocation is aligned to this at least: CUDA C++ Programming Guide, "Device Memory Accesses". */
    public static final long MIN_ALIGNMENT_BYTES = 1L << HeapSettings.CELL_LOG2;

    static final int CELL_LOG2 = 8;

    private static final long MIN_GROW_BYTES = 32L << 20;
    private static final long MAX_GROW_BYTES = 1L << 30;

    /** Checks the measures. */
    public HeapSettings {
        if (Long.bitCount(granuleBytes) != 1 || granuleBytes < SPAN_BYTES) {
            throw new IllegalArgumentException("a granule of " + granuleBytes + " bytes is no power of two from 2 MiB on");
        }
        if (rangeBytes <= 0 || rangeBytes % granuleBytes != 0 || rangeBytes >> PAGE_LOG2 > 1 << 30) {
            throw new IllegalArgumentException("a range of " + rangeBytes + " bytes is no multiple of granules of "
                    + granuleBytes);
        }
        if (minGrowBytes < 0 || maxGrowBytes < minGrowBytes) {
            throw new IllegalArgumentException("growth between " + minGrowBytes + " and " + maxGrowBytes + " bytes");
        }
    }

    /** A heap that grows by an eighth of what it has, at least 32 MiB and at most 1 GiB. */
    public static HeapSettings standard(long rangeBytes, long granuleBytes) {
        return new HeapSettings(rangeBytes, granuleBytes, MIN_GROW_BYTES, MAX_GROW_BYTES);
    }

    /** As above, but without advance commits at the beginning; for many tenants with little memory each. */
    public static HeapSettings byNeed(long rangeBytes, long granuleBytes) {
        return new HeapSettings(rangeBytes, granuleBytes, 0, MAX_GROW_BYTES);
    }

    /** A heap that commits what is needed, rounded up to granules, and no more. */
    public static HeapSettings exact(long rangeBytes, long granuleBytes) {
        return new HeapSettings(rangeBytes, granuleBytes, 0, 0);
    }
}
