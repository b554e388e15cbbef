package io.tessera.agent.boot;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The counters of this process that the preload library keeps, read where they are. Offsets are those of
 * {@code tessera_abi.h}; a unit test compares them. Any thread; without our library everything is 0.
 */
public final class Segment {
    /** Offset of the counters in the segment. */
    static final int COUNTERS = 12288;
    /** Offset of the devices. */
    static final int DEVICES = 4096;
    /** Times that a submission found the gate closed. */
    public static final int GATE_WAITS = 13;
    /** Nanoseconds of those waits. */
    public static final int GATE_WAIT_NS = 14;
    /** Times that a submission was held back by the pace. */
    public static final int PACE_WAITS = 15;
    /** Nanoseconds of those waits. */
    public static final int PACE_WAIT_NS = 16;

    /** Maximum number of devices in the segment, and the size of one. */
    static final int MOST_DEVICES = 16;
    static final int DEVICE_BYTES = 512;
    /** Offsets in a device: gates closed after work, and the nanoseconds that it took. */
    static final int DRAINS = 368;
    static final int DRAIN_NS = 376;

    /** Offsets in a device: the tenant's limit in bytes, 0 for none; nanoseconds of turns held. */
    static final int LIMIT_BYTES = 168;
    static final int HELD_NS = 400;

    /** Offset of the residency blocks, and the size of one. */
    static final int RESIDENCY = 98304;
    static final int RESIDENCY_BYTES = 512;
    /** Offsets in one: contents off the device now; bytes, nanoseconds and times of moving out. */
    static final int SWAPPED_BYTES = 160;
    static final int MOVED_OUT_BYTES = 200;
    static final int MOVE_OUT_NS = 216;
    static final int MOVES_OUT = 232;

    private static volatile ByteBuffer view;

    private Segment() {
    }

    /**
     * Returns one of the library's counters.
     *
     * @param counter its index
     * @return its value
     */
    public static long counter(int counter) {
        ByteBuffer segment = view();
        return segment == null ? 0 : segment.getLong(COUNTERS + 8 * counter);
    }

    /**
     * Returns how long submissions waited.
     *
     * @return nanoseconds, for turns and for the pace
     */
    public static long waitNanos() {
        return counter(GATE_WAIT_NS) + counter(PACE_WAIT_NS);
    }

    /**
     * Returns how often submissions waited.
     *
     * @return waits for turns and for the pace
     */
    public static long waits() {
        return counter(GATE_WAITS) + counter(PACE_WAITS);
    }

    /**
     * Returns how often the process drained its work and gave a device back to others.
     *
     * @return gates closed after work, over all devices
     */
    public static long drains() {
        return overDevices(DRAINS);
    }

    /**
     * Returns how long those drains took.
     *
     * @return nanoseconds, over all devices
     */
    public static long drainNanos() {
        return overDevices(DRAIN_NS);
    }

    /**
     * Returns the tenant's memory limit.
     *
     * @return bytes, over all devices; 0: none, or it is not known here
     */
    public static long limitBytes() {
        return overDevices(LIMIT_BYTES);
    }

    /**
     * Returns how long the process has held turns.
     *
     * @return nanoseconds, over all devices
     */
    public static long heldNanos() {
        return overDevices(HELD_NS);
    }

    /**
     * Returns how often memory was moved off a device for others, under plan swap.
     *
     * @return moves that reached their target, over all devices
     */
    public static long evictions() {
        return sum(RESIDENCY + MOVES_OUT, RESIDENCY_BYTES);
    }

    /**
     * Returns the amount of memory moved off devices since the start.
     *
     * @return bytes, over all devices
     */
    public static long evictedBytes() {
        return sum(RESIDENCY + MOVED_OUT_BYTES, RESIDENCY_BYTES);
    }

    /**
     * Returns how long moving memory off devices took.
     *
     * @return nanoseconds in which at least one copy was under way, over all devices
     */
    public static long evictionNanos() {
        return sum(RESIDENCY + MOVE_OUT_NS, RESIDENCY_BYTES);
    }

    /**
     * Returns the amount of memory that is off the devices now.
     *
     * @return bytes of contents, over all devices
     */
    public static long swappedBytes() {
        return sum(RESIDENCY + SWAPPED_BYTES, RESIDENCY_BYTES);
    }

    private static long overDevices(int offset) {
        return sum(DEVICES + offset, DEVICE_BYTES);
    }

    private static long sum(int offset, int stride) {
        ByteBuffer segment = view();
        long sum = 0;
        for (int i = 0; segment != null && i < MOST_DEVICES; i++) {
            sum += segment.getLong(offset + stride * i);
        }
        return sum;
    }

    private static ByteBuffer view() {
        ByteBuffer segment = view;
        if (segment == null && Natives.available()) {
            segment = Natives.segment();
            if (segment != null) {
                segment.order(ByteOrder.nativeOrder());
                view = segment;
            }
        }
        return segment;
    }
}
