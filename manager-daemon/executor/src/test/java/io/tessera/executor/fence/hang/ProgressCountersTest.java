package io.tessera.executor.fence.hang;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the progress of streams, without a call of the driver. */
class ProgressCountersTest {
    private static final long FIRST = 0x10;
    private static final long SECOND = 0x20;

    private final Arena arena = Arena.ofShared();
    private final FakeDriver driver = new FakeDriver();
    private final DriverCalls calls = new DriverCalls(driver, arena);
    private final ProgressCounters words = ProgressCounters.make(calls);

    @AfterEach
    void close() {
        driver.close();
        arena.close();
    }

    @Test
    void aPlaceIsAheadUntilItsOwnStreamHasComeThere() {
        int first = words.take();
        int second = words.take();
        driver.heldStreams.add(FIRST);
        long ahead = words.write(calls, FIRST, first);
        long reached = words.write(calls, SECOND, second);
        assertTrue(words.isAhead(ahead));
        assertFalse(words.isAhead(reached));
        driver.heldStreams.clear();
        long later = words.write(calls, FIRST, first);
        assertFalse(words.isAhead(later));
        assertFalse(words.isAhead(ahead), "what comes before is done, too");
    }

    @Test
    void whoeverGetsAWordAgainDoesNotTakeOlderNumbersForItsOwn() {
        int word = words.take();
        assertFalse(words.isAhead(words.write(calls, FIRST, word)));
        words.giveBack(word);
        assertEquals(word, words.take());
        driver.heldStreams.add(SECOND);
        assertTrue(words.isAhead(words.write(calls, SECOND, word)));
    }

    /** A client that takes all words gains nothing: it is never known to be done. */
    @Test
    void withoutAWordNobodyKnows() {
        Set<Integer> taken = new HashSet<>();
        int word = words.take();
        while (word != ProgressCounters.NO_WORD) {
            assertTrue(taken.add(word));
            word = words.take();
        }
        assertNotEquals(0, taken.size());
        long place = words.write(calls, FIRST, word);
        assertEquals(ProgressCounters.UNKNOWN, place);
        assertTrue(words.isAhead(place));
        words.giveBack(word);
        assertEquals(ProgressCounters.NO_WORD, words.take());
        assertTrue(ProgressCounters.none().isAhead(ProgressCounters.none().write(calls, FIRST, ProgressCounters.none().take())));
    }
}
