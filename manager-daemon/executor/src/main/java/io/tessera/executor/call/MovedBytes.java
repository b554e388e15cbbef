package io.tessera.executor.call;

import io.tessera.executor.stream.MoveTime;
import java.util.function.LongPredicate;

/** Number of bytes that the copy or memset of the call in progress reads and writes. One owner thread. */
public final class MovedBytes {
    /** Bound on the time of one copy. All memory of an H200 takes 3 s to the host, and that of a GPU whose speed is not known 10 s. */
    private static final long MOST_NS = 30_000_000_000L;

    private final MoveTime time;
    private final LongPredicate host;
    private long deviceBytes;
    private long hostBytes;
    private long rows;

    /**
     * Creates an empty count.
     *
     * @param host tells whether an address is in pinned memory
     */
    public MovedBytes(MoveTime time, LongPredicate host) {
        this.time = time;
        this.host = host;
    }

    /** Starts the count of another call. */
    public void begin() {
        deviceBytes = 0;
        hostBytes = 0;
        rows = 0;
    }

    /** Adds an access of at most this many bytes at an address; they belong to the client. */
    public void at(long address, long bytes) {
        if (host.test(address)) {
            hostBytes += bytes;
        } else {
            deviceBytes += bytes;
        }
    }

    /** Sets the number of rows of the moved bytes. */
    public void inRows(long count) {
        rows += count;
    }

    /** Adds the bytes of an array. */
    public void ofArray(long bytes) {
        deviceBytes += bytes;
    }

    /**
     * Refuses a copy that would occupy the device's copy engines for so long that others stand still, for example with rows of one byte.
     *
     * @throws RejectedException if it does
     */
    public void check() throws RejectedException {
        if (ns() > MOST_NS) {
            throw RejectedException
                    .bound("one copy or memset may take this device " + MOST_NS / 1_000_000_000L + " s at its best, and this one takes "
                            + ns() / 1_000_000_000L + " s: nobody can end it; copy it in parts, or with longer rows");
        }
    }

    /** Returns the estimate of the time of copies and memsets. */
    public MoveTime time() {
        return time;
    }

    /** Returns whether an address is of pinned memory. */
    public boolean isPinned(long address) {
        return host.test(address);
    }

    /** Returns the device time of all counted accesses. */
    public long ns() {
        return time.ns(deviceBytes, hostBytes, rows);
    }
}
