package io.tessera.executor.ring;

import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The executor's end of a ring (RELAY.md, section 2). One owner thread. Every record is copied into private memory, and
 * only the copy is read. Consumed space is zeroed and given back in pieces, at the latest when a poll ends.
 *
 * <p>Records are in the caches of the producers' cores. Between two records there is a driver call, which waits for the
 * processor's outstanding stores. So if lines were handled one by one, each record would pay for fetching its lines, and for
 * taking ownership of them to zero them: some hundred nanoseconds each. Many lines at once cost little more than one, so
 * both are done in pieces.
 */
public final class RingConsumer {
    /** A claim that is not committed after this time, while later ones are, belongs to a writer that died. */
    static final long HOLE_NS = 1_000_000_000L;
    /** Interval between reads of the claims: each read takes the cache line from the producers, which write it for every record. */
    private static final long HOLE_LOOK_NS = 1_000_000L;
    /** Room is given back in pieces of this size: producers read the cache line for every record and would lose it to each update. */
    private static final int PUBLISHED_BYTES = RelayLayout.RING_BYTES / 64;
    /** Number of bytes that are fetched ahead: some twenty launches, few enough to stay in the cache while they are made. */
    private static final int FETCHED_BYTES = 2048;
    /** Lines are fetched ahead only after this many bytes without a pause, because then the next records are probably written already. */
    private static final int BACKLOG_BYTES = 2048;

    private final RelaySegment segment;
    private final MemorySegment ring;
    private final MemorySegment record;
    /** The same memory, read-only, for handlers. It is not written until they return. */
    private final MemorySegment handed;
    private final MemorySegment fetched;
    /** Position of this consumer in the ring; it starts with a new ring. It is not kept in the segment, since the client can write there. */
    private long position;
    private long published;
    /** Position at which the ring was last found empty, or at which this consumer began. */
    private long foundEmpty;
    private long fetchedTo;
    private long holeLookNs = Long.MIN_VALUE;
    private long holeSinceNs;
    private long holes;

    /** Creates an instance over a mapped segment; the copy's memory is the arena's. */
    public RingConsumer(RelaySegment segment, Arena arena) {
        this.segment = segment;
        this.ring = segment.ring();
        this.record = arena.allocate(RelayLayout.RECORD_MAX, 64);
        this.handed = record.asReadOnly();
        this.fetched = arena.allocate(FETCHED_BYTES, 64);
    }

    /**
     * Passes on the records that are there, until the handler wants no more for now or does not admit the next one yet.
     *
     * @param most  maximum number of records
     * @param nowNs CLOCK_MONOTONIC, by which a hole is recognised
     * @return the number of records taken, paddings and skipped holes included
     * @throws BrokenRingException if the ring's structure is broken; nothing more can be read from it
     */
    public int poll(RecordHandler handler, int most, long nowNs) throws BrokenRingException {
        int taken = 0;
        try {
            while (taken < most) {
                long at = position & RelayLayout.RING_BYTES - 1;
                int length = RecordHeader.lengthAcquire(ring, at);
                if (length <= 0) {
                    foundEmpty = position;
                    return taken + (taken == 0 ? hole(at, length, nowNs) : 0);
                }
                holeSinceNs = 0;
                int rounded = check(at, length);
                MemorySegment.copy(ring, at, record, 0, length);
                boolean padding = RecordHeader.kind(record) == RecordKind.PADDING.code();
                if (!padding && !handler.admits(handed, length)) {
                    return taken;
                }
                taken(rounded);
                taken++;
                if (!padding && !handler.record(handed, length)) {
                    return taken;
                }
            }
            return taken;
        } finally {
            publish();
        }
    }

    private void taken(int rounded) {
        position += rounded;
        if (position - published >= PUBLISHED_BYTES) {
            publish();
        }
        if (position >= fetchedTo && position - foundEmpty >= BACKLOG_BYTES) {
            fetch();
        }
    }

    /** Brings the next lines into this core's cache. Their contents are not used, since they may still change. */
    private void fetch() {
        long at = position & RelayLayout.RING_BYTES - 1;
        long bytes = Math.min(FETCHED_BYTES, RelayLayout.RING_BYTES - at);
        MemorySegment.copy(ring, at, fetched, 0, bytes);
        fetchedTo = position + bytes;
    }

    private void publish() {
        if (published != position) {
            long at = published & RelayLayout.RING_BYTES - 1;
            long first = Math.min(position - published, RelayLayout.RING_BYTES - at);
            ring.asSlice(at, first).fill((byte) 0);
            ring.asSlice(0, position - published - first).fill((byte) 0);
            published = position;
            segment.consumed(position);
        }
    }

    private int check(long at, int length) throws BrokenRingException {
        if (length < RecordHeader.BYTES || length > RelayLayout.RECORD_MAX) {
            throw new BrokenRingException("a record of " + length + " bytes at position " + position);
        }
        int rounded = RelayLayout.align(length, RelayLayout.RECORD_ALIGNMENT);
        if (at + rounded > RelayLayout.RING_BYTES) {
            throw new BrokenRingException("a record of " + length + " bytes over the end of the ring at position "
                    + position);
        }
        return rounded;
    }

    /**
     * Skips a hole, but only if a record behind it is committed: a process that was stopped as a whole continues to write when it is resumed, and a hole at the
     * end delays no record.
     */
    private int hole(long at, int length, long nowNs) throws BrokenRingException {
        if (nowNs < holeLookNs) {
            return 0;
        }
        holeLookNs = nowNs + HOLE_LOOK_NS;
        long claimed = segment.claimed();
        if (claimed == position) {
            holeSinceNs = 0;
            return 0;
        }
        if (claimed - position < 0 || claimed - position > RelayLayout.RING_BYTES) {
            throw new BrokenRingException("claimed up to " + claimed + " at position " + position);
        }
        if (holeSinceNs == 0) {
            holeSinceNs = nowNs;
        }
        if (nowNs - holeSinceNs < HOLE_NS) {
            return 0;
        }
        // Negating Integer.MIN_VALUE overflows: the result stays negative, and is refused like any other invalid length.
        int bytes = length < 0 ? check(at, -length) : untilNext(at, claimed);
        if (bytes == 0 || position + bytes >= claimed
                || RecordHeader.lengthAcquire(ring, at + bytes & RelayLayout.RING_BYTES - 1) <= 0) {
            return 0;
        }
        position += bytes;
        publish();
        holeSinceNs = 0;
        holes++;
        return 1;
    }

    /** Bytes to the next record that is begun; 0 if there is none before the end of the claims. */
    private int untilNext(long at, long claimed) {
        long most = Math.min(claimed - position, RelayLayout.RING_BYTES - at);
        for (int bytes = RelayLayout.RECORD_ALIGNMENT; bytes < most; bytes += RelayLayout.RECORD_ALIGNMENT) {
            if (RecordHeader.lengthAcquire(ring, at + bytes) != 0) {
                return bytes;
            }
        }
        return most == RelayLayout.RING_BYTES - at ? (int) most : 0;
    }

    /** Returns whether the ring was empty at the last poll, so that the next record is the first after a pause. */
    public boolean wasEmpty() {
        return position == foundEmpty;
    }

    /** Returns whether there is something to read, or a hole that may become one. */
    public boolean hasWork() {
        return RecordHeader.lengthAcquire(ring, position & RelayLayout.RING_BYTES - 1) > 0;
    }

    /** Returns the number of holes skipped so far. */
    public long holes() {
        return holes;
    }
}
