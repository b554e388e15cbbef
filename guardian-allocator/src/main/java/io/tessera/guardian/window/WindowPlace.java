package io.tessera.guardian.window;

/**
 * The address range of a window. Immutable.
 *
 * @param baseAddress a multiple of the size
 * @param sizeBytes   2^k
 */
public record WindowPlace(long baseAddress, long sizeBytes) {
    /** Returns the start of the lower guard, which is the lowest address to reserve. */
    public long lowerGuardAddress() {
        return baseAddress - WindowLayout.GUARD_BYTES;
    }

    /** The first address above the upper guard. */
    public long endOfUpperGuard() {
        return endAddress() + WindowLayout.GUARD_BYTES;
    }

    /** The first address above the window. */
    public long endAddress() {
        return baseAddress + sizeBytes;
    }

    /**
     * Returns whether a range lies wholly in the window. Safe for all arguments: both are taken as unsigned.
     *
     * @param bytes may be 0: such a range lies in the window if the address is in the window or is its end
     */
    public boolean contains(long address, long bytes) {
        long offset = address - baseAddress;
        return offset >= 0 && offset <= sizeBytes && bytes >= 0 && bytes <= sizeBytes - offset;
    }
}
