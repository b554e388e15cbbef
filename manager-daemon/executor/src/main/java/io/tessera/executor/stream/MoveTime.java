package io.tessera.executor.stream;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Estimates the time that copies and memsets take on a device, and the time that those of all clients still need. Unlike kernels, such work cannot be ended. So
 * the queued work is bounded, and a wait for its end is longer by its time. Thread-safe.
 */
public final class MoveTime {
    /** Used if a driver does not report the clock and the width of a device's memory. */
    private static final double UNKNOWN_BYTES_PER_NS = 1000;
    /** For a software GPU, whose memory is the host's. An estimate, not measured. */
    private static final double SOFTWARE_BYTES_PER_NS = 4;
    /** Ratio of the device's own memory to the bus to the host's, about, by data sheets: 3.35 TB/s and 55 GB/s on an H100. Not measured. */
    private static final double HOST_RATIO = 64;
    /** Factor from clock and width: two transfers a cycle, eight bits a byte. */
    private static final double BITS_AND_EDGES = 4;
    private static final double KILOHERTZ_TO_BYTES_PER_NS = 1e-6;

    /**
     * Minimum time of a row of a copy or memset in two dimensions, on a GPU and in software. Estimates, too low rather than too high for a
     * GPU.
     */
    private static final double GPU_ROW_NS = 2;
    private static final double SOFTWARE_ROW_NS = 50;

    private final double deviceBytesPerNs;
    private final double hostBytesPerNs;
    private final double rowNs;
    private final AtomicLong outNs = new AtomicLong();

    private MoveTime(double deviceBytesPerNs, double hostBytesPerNs, double rowNs) {
        this.rowNs = rowNs;
        this.deviceBytesPerNs = deviceBytesPerNs;
        this.hostBytesPerNs = hostBytesPerNs;
    }

    /**
     * Returns the times of a GPU.
     *
     * @param kilohertz its memory's clock; 0: not known
     * @param bits      its memory's width; 0: not known
     */
    public static MoveTime ofGpu(int kilohertz, int bits) {
        double told = (double) kilohertz * bits / BITS_AND_EDGES * KILOHERTZ_TO_BYTES_PER_NS;
        double device = told > 0 ? told : UNKNOWN_BYTES_PER_NS;
        return new MoveTime(device, device / HOST_RATIO, GPU_ROW_NS);
    }

    /** Returns the times of a GPU in software. */
    public static MoveTime ofSoftware() {
        return new MoveTime(SOFTWARE_BYTES_PER_NS, SOFTWARE_BYTES_PER_NS, SOFTWARE_ROW_NS);
    }

    /** Returns the nanoseconds that this many bytes, in this many rows, take at the device's best speed. */
    public long ns(long deviceBytes, long hostBytes, long rows) {
        return (long) (deviceBytes / deviceBytesPerNs + hostBytes / hostBytesPerNs + rows * rowNs);
    }

    /** Adds to the time of all queued copies; negative: removes from it. */
    void add(long ns) {
        outNs.addAndGet(ns);
    }

    /** Returns the additional time to wait for all queued copies. It is more than their sum, since clients share the device and do not reach its best speed. */
    public long graceNs() {
        return 3 * outNs.get();
    }
}
