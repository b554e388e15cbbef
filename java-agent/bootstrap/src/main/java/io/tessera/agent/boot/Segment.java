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
    /** Offset of the devices, and the size of one. */
    static final int DEVICES = 4096;
    /** Times that a submission found the gate closed. */
    public static final int GATE_WAITS = 13;
    /** Nanoseconds of those waits. */
    public static final int GATE_WAIT_NS = 14;
    /** Times that a submission was held back by the pace. */
    public static final int PACE_WAITS = 15;
    /** Nanoseconds of those. */
    public static final int PACE_WAIT_NS = 16;

    private static volatile ByteBuffer view;

    private Segment() {
    }

    /**
     * One of the library's counters.
     *
     * @param counter its index
     * @return its value
     */
    public static long counter(int counter) {
        ByteBuffer segment = view();
        return segment == null ? 0 : segment.getLong(COUNTERS + 8 * counter);
    }

    /**
     * Time that submissions waited.
     *
     * @return nanoseconds, for turns and for the pace
     */
    public static long waitNanos() {
        return counter(GATE_WAIT_NS) + counter(PACE_WAIT_NS);
    }

    /**
     * How often submissions waited.
     *
     * @return waits for turns and for the pace
     */
    public static long waits() {
        return counter(GATE_WAITS) + counter(PACE_WAITS);
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
