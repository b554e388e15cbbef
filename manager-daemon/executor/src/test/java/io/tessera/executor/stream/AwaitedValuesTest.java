package io.tessera.executor.stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverPort;
import io.tessera.executor.driver.DriverCalls;
import io.tessera.testing.driver.CallInjector;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Streams of a client that has gone come to their end, however seldom the device looks at what they wait for. */
class AwaitedValuesTest {
    private static final long WORD = 0x2000_0000_0000L;
    private static final long STEP_NS = 60_000;
    private static final int EQUAL = 1;
    private static final int AND = 2;
    private static final int NOR = 3;

    /** Waits of one stream, of which the device looks at the first one from time to time. */
    private static final class Device implements CallInjector {
        private final Map<Long, Integer> words = new HashMap<>();
        private final ArrayDeque<long[]> waits = new ArrayDeque<>();

        @Override
        public int call(DriverEntry entry, MemorySegment slots, DriverPort driver) {
            switch (entry) {
                case cuStreamWriteValue32_v2 -> words.put(slot(slots, 1), (int) slot(slots, 2));
                case cuStreamWriteValue64_v2 -> {
                    words.put(slot(slots, 1), (int) slot(slots, 2));
                    words.put(slot(slots, 1) + 4, (int) (slot(slots, 2) >>> 32));
                }
                default -> {
                    return driver.call(entry, slots);
                }
            }
            return 0;
        }

        private static long slot(MemorySegment slots, int i) {
            return slots.getAtIndex(ValueLayout.JAVA_LONG, i);
        }

        /** A stream that has passed a wait looks at the next at once. */
        void look() {
            while (!waits.isEmpty() && holds(waits.peek())) {
                waits.poll();
            }
        }

        private boolean holds(long[] wait) {
            int word = words.getOrDefault(wait[0], 0);
            return switch ((int) wait[2]) {
                case EQUAL -> word == (int) wait[1];
                case AND -> (word & (int) wait[1]) != 0;
                default -> ~(word | (int) wait[1]) != 0;
            };
        }
    }

    private final Device device = new Device();
    private final AwaitedValues awaited = new AwaitedValues();

    private void await(long address, long value, int flags) {
        assertNull(awaited.add(address, false, value, flags, false));
        device.waits.add(new long[] {address, value, flags});
    }

    /** Time until nobody waits if the device looks once in this time; it looks seldom when it is busy. */
    private long endedAfterNs(long lookNs) {
        long nowNs = 1;
        try (Arena arena = Arena.ofConfined()) {
            DriverCalls calls = new DriverCalls(device.port(), arena);
            long lookedNs = 0;
            while (!device.waits.isEmpty() && nowNs < 20_000_000_000L) {
                awaited.release(calls, nowNs);
                if (nowNs - lookedNs >= lookNs) {
                    lookedNs = nowNs;
                    device.look();
                }
                nowNs += STEP_NS;
            }
        }
        assertEquals(0, device.waits.size(), "waits are left");
        return nowNs;
    }

    /** Fifty values of three words, one after the other: each must stay until it is seen. */
    private void fiftyOfThreeWords() {
        for (int i = 1; i < 50; i++) {
            await(WORD + i % 3 * 4, i, EQUAL);
        }
    }

    @Test
    void valuesOfTheSameWordsPassOneByOne() {
        fiftyOfThreeWords();
        assertTrue(endedAfterNs(STEP_NS) < 100_000_000L);
    }

    @Test
    void evenOnADeviceThatLooksSeldom() {
        fiftyOfThreeWords();
        assertTrue(endedAfterNs(5_000_000) < 5_000_000_000L);
    }

    @Test
    void theSameWaitManyTimesIsEndedManyTimes() {
        for (int i = 0; i < 2000; i++) {
            await(WORD, i % 2, EQUAL);
        }
        assertTrue(endedAfterNs(STEP_NS) < 5_000_000_000L);
    }

    @Test
    void manyWordsPassAtOnce() {
        for (int i = 0; i < 4096; i++) {
            await(WORD + i * 4L, i + 1, EQUAL);
        }
        assertEquals("streams of a program may wait for 4096 values in memory at a time; synchronise before more waits are added",
                awaited.add(WORD, false, 1, EQUAL, false), "more than can be ended in time");
        assertTrue(endedAfterNs(STEP_NS) < 100_000_000L);
    }

    @Test
    void everyConditionThatCanBeMetIs() {
        await(WORD, 6, AND);
        await(WORD, 6, NOR);
        await(WORD, 7, EQUAL);
        String never = "a stream is to wait for a value that nothing makes true, so nobody could end the wait; "
                + "wait for another value (cuStreamWaitValue32 and 64)";
        assertEquals(never, awaited.add(WORD, false, 0, AND, false));
        assertEquals(never, awaited.add(WORD, false, -1, NOR, false));
        assertTrue(endedAfterNs(200_000) < 100_000_000L);
    }

    @Test
    void graphsWaitForABoundedNumberOfValues() {
        for (int i = 0; i < 4096; i++) {
            assertNull(awaited.add(WORD + i * 4L, false, 1, EQUAL, true));
        }
        assertNull(awaited.add(WORD, false, 1, EQUAL, true), "it is one of them");
        assertEquals("graphs of a program may wait for 4096 values in memory; destroy graphs that are not needed any more",
                awaited.add(WORD, false, 2, EQUAL, true));
    }
}
