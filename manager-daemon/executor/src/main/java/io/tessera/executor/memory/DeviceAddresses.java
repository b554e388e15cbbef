package io.tessera.executor.memory;

import io.tessera.protocol.segment.SegmentLayout;

/**
 * The part of the address space in which one device's memory is placed by us (RELAY.md, section 6). A program that uses two
 * devices sees the memory of both by plain addresses: executors do not talk to each other, so the addresses that they may
 * give out are divided by the device's ordinal once and for all.
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
     * @param count   devices that the driver has; the part is as large as that allows, so one device has all
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
