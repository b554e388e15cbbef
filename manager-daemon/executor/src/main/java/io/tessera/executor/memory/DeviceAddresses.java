package io.tessera.executor.memory;

import io.tessera.protocol.segment.SegmentLayout;

/**
 * The part of the address space in which the executor places one device's memory (RELAY.md, section 6). A program that uses two
 * devices sees the memory of both in one address space, and their executors do not communicate. So the addresses are divided
 * among the devices by ordinal, in a fixed way.
 *
 * @param first first address
 * @param end   first address behind the last
 */
public record DeviceAddresses(long first, long end) {
    /** The first address for all devices: free in ordinary processes, between their programs and their libraries. */
    private static final long FIRST = 0x2000_0000_0000L;
    private static final long END = 0x4000_0000_0000L;

    /**
     * Returns the part of one device.
     *
     * @param ordinal as the driver counts
     * @param count   number of the driver's devices, among which all addresses are divided equally
     */
    public static DeviceAddresses of(int ordinal, int count) {
        if (ordinal < 0 || ordinal >= count || count > SegmentLayout.MAX_DEVICES) {
            throw new IllegalArgumentException("device " + ordinal + " of " + count + ": at most " + SegmentLayout.MAX_DEVICES);
        }
        long parts = count == 1 ? 1 : Long.highestOneBit(count - 1L) << 1;
        long bytes = (END - FIRST) / parts;
        return new DeviceAddresses(FIRST + ordinal * bytes, FIRST + (ordinal + 1) * bytes);
    }

    /** Returns whether a range lies wholly inside. */
    public boolean holds(long address, long bytes) {
        return address >= first && address < end && bytes >= 0 && bytes <= end - address;
    }
}
