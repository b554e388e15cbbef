package io.tessera.executor.swap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.swap.ResidencyTurns.Party;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which tenants have to leave the device, and when. */
class ResidencyTurnsTest {
    private static final long GIB = 1L << 30;
    private static final long MS = 1_000_000L;
    private static final long BUSY = -1;

    private int wakes;
    private final ResidencyTurns turns = new ResidencyTurns(() -> wakes++);
    private Party first;
    private Party second;

    @BeforeEach
    void join() {
        first = turns.join(0);
        second = turns.join(0);
        first.movable(10 * GIB);
        second.movable(10 * GIB);
    }

    private boolean ask(Party party, long nowNs) {
        boolean isFirst = turns.stand(party, nowNs);
        turns.lacks(party, GIB);
        return isFirst;
    }

    /** Out and back, of which 100 ms are copies at the rate of pinned memory. */
    private void moved(Party party) {
        turns.left(party, false, 5 * GIB, 4_930_000_000L, 0);
        turns.back(party);
    }

    @Test
    void nobodyLeavesWhileNobodyAsks() {
        assertFalse(turns.isAsked());
        assertFalse(turns.isDue(first, 1000 * MS, 1000 * MS));
        assertFalse(turns.isDue(first, BUSY, 1_000_000 * MS));
    }

    @Test
    void whoAsksAndLacksNothingMovesNobody() {
        assertTrue(turns.stand(second, 1000 * MS));
        assertFalse(turns.isDue(first, 1000 * MS, 1000 * MS));
        assertEquals(0, wakes);
    }

    @Test
    void theIdleLeaveAtOnceAndTheBusyWhenTheirTurnIsOver() {
        turns.granted(first, 1000 * MS);
        ask(second, 1001 * MS);
        assertEquals(1, wakes, "sleepers look up");
        assertFalse(turns.isDue(first, BUSY, 1002 * MS));
        assertTrue(turns.isDue(first, 20 * MS, 1002 * MS), "idle for 20 ms");
        assertFalse(turns.isDue(first, BUSY, 1249 * MS));
        assertTrue(turns.isDue(first, BUSY, 1250 * MS));
        turns.gave(first, GIB, 1260 * MS);
        assertFalse(turns.needsMore(first), "it has given all that was lacked");
        assertFalse(turns.isDue(first, BUSY, 2000 * MS));
    }

    @Test
    void turnsAreSoLongThatMovesTakeATwentiethOfThem() {
        moved(first);
        turns.granted(first, 0);
        ask(second, 0);
        assertFalse(turns.isDue(first, BUSY, 3_999 * MS), "100 ms are 5 % of 2 s, and as much is for what is lost beside");
        assertTrue(turns.isDue(first, BUSY, 4_000 * MS));
    }

    @Test
    void whoIsBackIdleIsLeftForAsLongAsItsMoveTakes() {
        moved(first);
        turns.granted(first, 0);
        ask(second, 0);
        assertFalse(turns.isDue(first, 99 * MS, 100 * MS));
        assertTrue(turns.isDue(first, 100 * MS, 100 * MS));
    }

    @Test
    void theLineKeepsItsOrder() {
        Party third = turns.join(0);
        turns.gave(first, GIB, 0);
        assertTrue(ask(first, 0));
        assertFalse(ask(second, 0));
        assertTrue(turns.isDue(second, BUSY, 0), "it waits itself");
        assertFalse(ask(third, 0));
        turns.granted(first, 0);
        assertTrue(ask(second, 0));
        assertFalse(ask(third, 0));
        turns.leave(second, 0);
        assertTrue(ask(third, 0));
        turns.withdraw(third, 0);
        assertFalse(turns.isAsked());
    }

    @Test
    void whoIsToldLeavesWhetherSomebodyWaitsOrNot() {
        turns.park(first);
        assertEquals(1, wakes);
        assertTrue(turns.isAsked());
        assertTrue(turns.isDue(first, BUSY, 0));
        assertTrue(turns.needsMore(first));
        assertFalse(turns.isDue(second, 1000 * MS, 0));
        turns.left(first, false, 0, 0, 0);
        assertFalse(turns.isAsked());
        turns.park(second);
        turns.leave(second, 0);
        assertFalse(turns.isAsked());
    }

    @Test
    void whoLacksMemoryHopesAsLongAsOthersCanLeave() {
        turns.granted(first, 0);
        ask(second, 0);
        assertFalse(turns.isHopeless(second, 10_250 * MS), "the turn of the other ends after 250 ms");
        assertTrue(turns.isHopeless(second, 10_251 * MS));
        turns.stuck(first, false, 20_000 * MS);
        assertFalse(turns.isDue(first, BUSY, 20_999 * MS), "it is not asked again and again");
        assertTrue(turns.isDue(first, BUSY, 21_000 * MS));
        first.movable(0);
        turns.withdraw(second, 0);
        ask(second, 30_000 * MS);
        assertFalse(turns.isHopeless(second, 30_200 * MS));
        assertTrue(turns.isHopeless(second, 30_201 * MS), "nobody has anything");
    }

    @Test
    void aMoveThatTakesLongIsWaitedForAsLongAsItAdvances() {
        turns.granted(first, 0);
        ask(second, 0);
        turns.gave(first, 0, 9_000 * MS);
        assertFalse(turns.isHopeless(second, 19_000 * MS), "it has begun to leave");
        assertTrue(turns.isHopeless(second, 19_001 * MS));
        turns.gave(first, 1, 19_000 * MS);
        assertFalse(turns.isHopeless(second, 29_000 * MS));
        assertTrue(turns.isHopeless(second, 29_001 * MS), "nothing came for 10 s");
    }

    @Test
    void whoIsAwayWaitsLonger() {
        turns.gave(second, GIB, 0);
        ask(second, 0);
        first.movable(0);
        assertFalse(turns.isHopeless(second, 60_000 * MS));
        assertTrue(turns.isHopeless(second, 60_001 * MS));
        assertFalse(turns.isHopeless(first, 60_001 * MS), "it is not first");
    }

    @Test
    void whatAnotherIsTakingNowCanLeaveSoon() {
        first.movable(0);
        first.grows(true);
        ask(second, 0);
        assertFalse(turns.isHopeless(second, 1_000 * MS), "it is not alone");
        first.grows(false);
        assertTrue(turns.isHopeless(second, 1_000 * MS), "nobody has anything");
    }
}
