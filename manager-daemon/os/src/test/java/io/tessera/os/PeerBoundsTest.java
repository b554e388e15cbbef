package io.tessera.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which peer is disconnected when too many have come. */
class PeerBoundsTest {
    private final PeerBounds<String> bounds = new PeerBounds<>(3, 6);

    @Test
    void aUsersOldestGoesAndNobodyElses() {
        assertNull(bounds.enter("other", 2));
        for (String peer : List.of("a", "b", "c")) {
            assertNull(bounds.enter(peer, 1));
        }
        assertEquals("a", bounds.enter("d", 1));
        bounds.leave("a", 1);
        assertEquals(4, bounds.size());
        assertEquals("b", bounds.enter("e", 1));
    }

    @Test
    void whenAllAreTooManyTheUserWithTheMostLosesHisOldest() {
        for (int uid = 1; uid <= 2; uid++) {
            assertNull(bounds.enter("first of " + uid, uid));
            assertNull(bounds.enter("second of " + uid, uid));
        }
        assertNull(bounds.enter("third of 2", 2));
        assertNull(bounds.enter("first of 3", 3));
        assertEquals("first of 2", bounds.enter("first of 4", 4));
    }

    @Test
    void whoHasSaidWhoItIsIsNotToldToGo() {
        bounds.enter("a", 1);
        bounds.enter("b", 1);
        bounds.leave("a", 1);
        bounds.leave("a", 1);
        bounds.leave("nobody", 7);
        assertEquals(1, bounds.size());
        assertEquals("b", bounds.oldest(1));
        bounds.leave("b", 1);
        assertNull(bounds.oldest(1));
        assertNull(bounds.oldestOfGreediest());
    }

    @Test
    void aLineLimitIsEachUsersOwnAndCountsWhatItLeavesOut() {
        long[] nowNs = {5};
        LineLimit lines = new LineLimit(() -> nowNs[0], 2, 10_000_000_000L);
        int written = 0;
        for (int i = 0; i < 1_000; i++) {
            written += lines.admits(1_001) ? 1 : 0;
        }
        assertEquals(2, written);
        assertEquals(true, lines.admits(1_002));
        List<String> said = new ArrayList<>();
        lines.sayLeftOut(nowNs[0], said::add);
        assertEquals(List.of(), said);
        nowNs[0] += 10_000_000_000L;
        lines.sayLeftOut(nowNs[0], said::add);
        assertEquals(List.of("998 more lines about processes of user 1001 were left out, after 2 in 10 s"), said);
        assertEquals(true, lines.admits(1_001));
    }
}
