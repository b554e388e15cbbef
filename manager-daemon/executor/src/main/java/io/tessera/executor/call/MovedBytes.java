package io.tessera.executor.call;

import io.tessera.executor.stream.MoveTime;
import java.util.function.LongPredicate;

/** How much the copy or memset of the call in progress reads and writes. One owner thread. */
final class MovedBytes {
    private final MoveTime time;
    private final LongPredicate host;
    private long deviceBytes;
    private long hostBytes;

    /**
     * Nothing yet.
     *
     * @param host whether an address is of pinned memory
     */
    MovedBytes(MoveTime time, LongPredicate host) {
        this.time = time;
        this.host = host;
    }

    /** Another call begins. */
    void begin() {
        deviceBytes = 0;
        hostBytes = 0;
    }

    /** So many bytes at an address are read or written, at most; they are the client's. */
    void at(long address, long bytes) {
        if (host.test(address)) {
            hostBytes += bytes;
        } else {
            deviceBytes += bytes;
        }
    }

    /** So many bytes of an array. */
    void ofArray(long bytes) {
        deviceBytes += bytes;
    }

    /** What all that takes the device. */
    long ns() {
        return time.ns(deviceBytes, hostBytes);
    }
}
