package io.tessera.executor.ring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The consumer against a producer that is stepped by hand: what it hands on, zeroes and gives back, over many laps. */
@Timeout(180)
class RingConsumerTest {
    private static final int RING = RelayLayout.RING_BYTES;
    private static final int LONGEST = 6_000;
    private static final int LAPS = 20;
    /** Bytes that a consumer may keep back, and the longest record before it gives them back. */
    private static final long KEPT = RING / 64 + LONGEST;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory = arena.allocate(RelaySegment.BYTES, 4096);
    private final RelaySegment segment = new RelaySegment(memory);
    private final RingConsumer consumer = new RingConsumer(segment, arena);
    private final ArrayDeque<long[]> sent = new ArrayDeque<>();
    private long claimed;
    private long number;

    @AfterEach
    void close() {
        arena.close();
    }

    private boolean fits(int length) {
        long at = claimed & RING - 1;
        long room = RelayLayout.align(length, RelayLayout.RECORD_ALIGNMENT);
        long padding = at + room > RING ? RING - at : 0;
        return claimed + padding + room - segment.consumed() <= RING;
    }

    private void write(long at, int length, RecordKind kind) {
        MemorySegment ring = segment.ring();
        for (long i = 0; i < length; i += Integer.BYTES) {
            assertEquals(0, ring.get(WireTypes.U32, at + i), "a place that is given back is zero, at " + (at + i));
        }
        RecordHeader.write(ring, at, kind, 0, 0, 0, 0);
        if (kind == RecordKind.LAUNCH) {
            ring.asSlice(at + RecordHeader.BYTES, length - RecordHeader.BYTES).fill((byte) 0x5a);
            ring.set(WireTypes.U64, at + RecordHeader.BYTES, number);
        }
        RecordHeader.lengthRelease(ring, at, length);
    }

    private void send(int length) {
        long at = claimed & RING - 1;
        int room = RelayLayout.align(length, RelayLayout.RECORD_ALIGNMENT);
        if (at + room > RING) {
            write(at, (int) (RING - at), RecordKind.PADDING);
            claimed += RING - at;
            at = 0;
        }
        write(at, length, RecordKind.LAUNCH);
        sent.add(new long[] {number++, length});
        claimed += room;
        assertTrue(segment.claim(segment.claimed(), claimed));
    }

    private boolean take(MemorySegment record, int length) {
        long[] expected = sent.remove();
        assertEquals(expected[1], length);
        assertEquals(expected[0], record.get(WireTypes.U64, RecordHeader.BYTES));
        assertEquals(0x5a, record.get(ValueLayout.JAVA_BYTE, length - 1L));
        return true;
    }

    @Test
    void recordsArriveInOrderAndTheirPlacesComeBackZeroed() throws BrokenRingException {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        while (claimed < (long) LAPS * RING) {
            int length = RecordHeader.BYTES + Long.BYTES + 1 + random.nextInt(random.nextBoolean() ? 200 : LONGEST - 64);
            for (int burst = random.nextInt(400); burst > 0 && fits(length); burst--) {
                send(length);
            }
            long before = segment.consumed();
            int most = random.nextInt(4) == 0 ? 1 : 300;
            consumer.poll((record, bytes) -> {
                take(record, bytes);
                assertTrue(claimed - segment.consumed() <= RING);
                return true;
            }, most, 0);
            assertTrue(segment.consumed() >= before);
        }
        consumer.poll(this::take, Integer.MAX_VALUE, 0);
        assertEquals(0, sent.size());
        assertEquals(claimed, segment.consumed());
        assertEquals(-1, segment.ring().mismatch(arena.allocate(RING)), "an empty ring is zero");
    }

    /** A record that is never committed is skipped if another one follows, and may claim any length. */
    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, Integer.MIN_VALUE + 1, -RelayLayout.RECORD_MAX - 1, -1})
    void aHoleOfALengthThatNoRecordHasBreaksTheRing(int length) throws BrokenRingException {
        assertTrue(segment.claim(0, 4096));
        RecordHeader.lengthRelease(segment.ring(), 0, length);
        RecordHeader.lengthRelease(segment.ring(), 64, RecordHeader.BYTES);
        assertEquals(0, consumer.poll(this::take, 1, 1));
        assertThrows(BrokenRingException.class, () -> consumer.poll(this::take, 1, 2 * RingConsumer.HOLE_NS));
    }

    /** The client may have written there before this consumer was made. */
    @Test
    void whereItBeginsIsNotTheSegmentsToSay() throws BrokenRingException {
        segment.consumed(2);
        RingConsumer other = new RingConsumer(segment, arena);
        send(96);
        assertEquals(1, other.poll(this::take, 1, 1));
        assertEquals(96, segment.consumed());
    }

    @Test
    void aRecordThatIsNotAdmittedStaysUntilItIs() throws BrokenRingException {
        send(96);
        send(160);
        boolean[] admits = {false};
        RecordHandler handler = new RecordHandler() {
            @Override
            public boolean admits(MemorySegment record, int length) {
                return admits[0] || length == 96;
            }

            @Override
            public boolean record(MemorySegment record, int length) {
                return take(record, length);
            }
        };
        assertEquals(1, consumer.poll(handler, 10, 0));
        assertEquals(0, consumer.poll(handler, 10, 0));
        assertEquals(96, segment.consumed());
        admits[0] = true;
        assertEquals(1, consumer.poll(handler, 10, 0));
        assertEquals(256, segment.consumed());
    }

    @Test
    void roomComesBackBeforeAFullRingIsRead() throws BrokenRingException {
        int length = 96;
        while (fits(length)) {
            send(length);
        }
        long[] taken = {0};
        consumer.poll((record, bytes) -> {
            taken[0] += bytes;
            assertTrue(taken[0] - segment.consumed() <= KEPT, taken[0] + " read, " + segment.consumed() + " given back");
            return true;
        }, Integer.MAX_VALUE, 0);
        assertEquals(RING / length * (long) length, taken[0]);
    }
}
