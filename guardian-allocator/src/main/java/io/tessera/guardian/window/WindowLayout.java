package io.tessera.guardian.window;

/**
 * The division of a tenant's window on one device. From its base upwards:
 *
 * <pre>
 *   base - GUARD     base              base + devicePartBytes   base + sizeBytes     + GUARD
 *     | guard, sink  | device part      | host part              | guard, sink         |
 * </pre>
 *
 * The device part holds what the tenant allocates on the device, the host part the pinned host memory of its clients.
 * Programs with little memory have all of it in the first 4 GiB, where fences of machine code cost least: of a larger window
 * the last {@link #NEAR_HOST_BYTES} of the first 4 GiB are for host memory, too.
 * All uncommitted addresses of the window and the guards are mapped to the tenant's sink, {@link #slotBytes} at a time.
 * Immutable.
 *
 * @param sizeBytes        2^k, at least 4 GiB: then a fence changes only the high word of an address
 * @param hostPartBytes    at the upper end, 0 where kernels cannot reach host memory at the same address; a multiple of
 *                         the slot size, less than the window
 * @param granularityBytes the device's mapping granularity, a power of two (2 MiB on NVIDIA GPUs), at most
 *                         {@link #MAX_SLOT_BYTES}
 * @param slotBytes        of the sink: a power of two, at least the granularity, that divides the parts, the window and the
 *                         guards. Real memory replaces whole slots
 * @param growsByNeed      whether a tenant that needs little gets no more than that
 */
public record WindowLayout(long sizeBytes, long hostPartBytes, long granularityBytes, long slotBytes, boolean growsByNeed) {
    /** The least window: its mask leaves the low word of an address as it is. */
    public static final long MIN_SIZE_BYTES = 1L << 32;

    /** The largest window that is of use: a quarter of the range of all windows. */
    public static final long MAX_SIZE_BYTES = 1L << 42;

    /**
     * Bytes of a guard on either side: the reach of a base inside the window plus a signed index of 32 bits times sixteen, and of four strides of
     * such an index times four. Wider bands would save kernels few fences, and each GiB costs eight mappings.
     */
    public static final long GUARD_BYTES = 40L << 30;

    /** The part for host memory in the first 4 GiB of a larger window. */
    public static final long NEAR_HOST_BYTES = 512L << 20;

    /** The host part is a quarter of the window and at most this. */
    public static final long MAX_HOST_PART_BYTES = 64L << 30;

    /** A sink's physical memory is at least this: the granularity of NVIDIA GPUs. */
    public static final long MIN_SLOT_BYTES = 2L << 20;

    /** A sink costs its tenant at most this much physical memory. */
    public static final long MAX_SLOT_BYTES = 128L << 20;

    /** Target number of mappings in a window, where {@link #MAX_SLOT_BYTES} allows it; one mapping takes 23 µs on an H200. */
    public static final int MAPPINGS_AIMED_AT = 2700;

    /** Checks the parts. */
    public WindowLayout {
        if (Long.bitCount(sizeBytes) != 1 || sizeBytes < MIN_SIZE_BYTES || sizeBytes > MAX_SIZE_BYTES) {
            throw new IllegalArgumentException("a window of " + sizeBytes + " bytes is no power of two between 4 GiB and "
                    + "4 TiB");
        }
        if (Long.bitCount(granularityBytes) != 1 || granularityBytes < 1 || granularityBytes > MAX_SLOT_BYTES) {
            throw new IllegalArgumentException("granularity of " + granularityBytes + " bytes is no power of two up to "
                    + "128 MiB");
        }
        if (Long.bitCount(slotBytes) != 1 || slotBytes < granularityBytes || slotBytes > MAX_SLOT_BYTES) {
            throw new IllegalArgumentException("a slot of " + slotBytes + " bytes is no power of two between the granularity "
                    + "and 128 MiB");
        }
        if (hostPartBytes < 0 || hostPartBytes >= sizeBytes || hostPartBytes % slotBytes != 0) {
            throw new IllegalArgumentException("a host part of " + hostPartBytes + " bytes in a window of " + sizeBytes
                    + " is no multiple of a slot of " + slotBytes + " or leaves no device part");
        }
    }

    /** Creates a layout with slots large enough to keep the number of the sink's mappings low. */
    public WindowLayout(long sizeBytes, long hostPartBytes, long granularityBytes) {
        this(sizeBytes, hostPartBytes, granularityBytes, slot(sizeBytes, granularityBytes), false);
    }

    /**
     * Returns the smallest window whose device part has room for an amount of memory.
     *
     * @param deviceBytes      the least size of the device part, above 0
     * @param withHostPart     whether kernels can reach host memory in the window
     * @param granularityBytes of the device
     * @throws IllegalArgumentException if no window is that large
     */
    public static WindowLayout holding(long deviceBytes, boolean withHostPart, long granularityBytes) {
        long size = holding(deviceBytes, withHostPart);
        return new WindowLayout(size, hostPart(size, withHostPart), granularityBytes);
    }

    /**
     * As above, with a given slot size, where the number of the sink's mappings does not matter.
     *
     * @param wantedSlotBytes rounded down to a power of two that is possible
     */
    public static WindowLayout withSlots(long deviceBytes, boolean withHostPart, long granularityBytes, long wantedSlotBytes) {
        long size = holding(deviceBytes, withHostPart);
        long slot = Math.clamp(Long.highestOneBit(Math.max(1, wantedSlotBytes)),
                Math.max(MIN_SLOT_BYTES, granularityBytes), MAX_SLOT_BYTES);
        return new WindowLayout(size, hostPart(size, withHostPart), granularityBytes, slot, true);
    }

    private static long holding(long deviceBytes, boolean withHostPart) {
        if (deviceBytes <= 0 || deviceBytes > MAX_SIZE_BYTES) {
            throw new IllegalArgumentException("no window holds " + deviceBytes + " bytes");
        }
        long size = MIN_SIZE_BYTES;
        while (size - hostPart(size, withHostPart) < deviceBytes) {
            size *= 2;
        }
        return size;
    }

    private static long hostPart(long size, boolean wanted) {
        return wanted ? Math.min(size / 4, MAX_HOST_PART_BYTES) : 0;
    }

    private static long slot(long size, long granularity) {
        long slot = Math.max(MIN_SLOT_BYTES, granularity);
        while (slot < MAX_SLOT_BYTES && (size + 2 * GUARD_BYTES) / slot > MAPPINGS_AIMED_AT) {
            slot *= 2;
        }
        return slot;
    }

    /** The bytes of the device part, which begins at the window's base. */
    public long devicePartBytes() {
        return sizeBytes - hostPartBytes;
    }

    /** Returns the start of the host part, as an offset from the window's base. */
    public long hostPartOffset() {
        return sizeBytes - hostPartBytes;
    }

    /** Returns the start of host memory in the first 4 GiB of a larger window, as an offset from the window's base; 0 if there is no such part. */
    public long nearHostOffset() {
        return hostPartBytes == 0 || sizeBytes == MIN_SIZE_BYTES ? 0 : MIN_SIZE_BYTES - NEAR_HOST_BYTES;
    }

    /** Returns the number of sink mappings that cover window and guards while nothing is committed. */
    public long slots() {
        return footprintBytes() / slotBytes();
    }

    /** The bytes of window and guards together. */
    public long footprintBytes() {
        return sizeBytes + 2 * GUARD_BYTES;
    }
}
