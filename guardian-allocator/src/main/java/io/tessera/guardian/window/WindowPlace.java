package io.tessera.guardian.window;

/**
 * Where a window lies. Immutable.
 *
 * @param baseAddress a multiple of the size
 * @param sizeBytes   2^k
 */
public record WindowPlace(long baseAddress, long sizeBytes) {
    /** Where the lower guard begins: the least address of what has to be reserved. */
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
     * Whether a range lies wholly in the window. Safe against any numbers: both are taken as unsigned.
     *
     * @param bytes 0 is in if the address is in or is the end
     */
    public boolean contains(long address, long bytes) {
        long offset = address - baseAddress;
        return offset >= 0 && offset <= sizeBytes && bytes >= 0 && bytes <= sizeBytes - offset;
    }
}
