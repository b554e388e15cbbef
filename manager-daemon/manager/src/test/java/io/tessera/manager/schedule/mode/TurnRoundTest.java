package io.tessera.manager.schedule.mode;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a round of turns is over. */
class TurnRoundTest {
    private static final long JUST_BEGUN_NS = 5;

    private final TurnRound round = new TurnRound();
    private long nowNs = 1000;

    private void turn(long clientId) {
        round.started(clientId, nowNs);
        round.waits(clientId, false);
        nowNs += 100;
        round.waits(clientId, true);
        round.ended(clientId);
    }

    private boolean over() {
        return round.over(JUST_BEGUN_NS, nowNs);
    }

    @Test
    void everybodyWhoWaitsHasHadATurn() {
        assertFalse(over());
        for (long id = 1; id <= 3; id++) {
            round.waits(id, true);
        }
        for (int i = 0; i < 2; i++) {
            turn(1);
            assertFalse(over());
            turn(2);
            assertFalse(over());
            turn(3);
            assertTrue(over());
        }
    }

    @Test
    void aRoundThatHasJustBegunMayBeCalledOff() {
        round.waits(2, true);
        turn(1);
        turn(2);
        round.started(1, nowNs);
        nowNs += JUST_BEGUN_NS;
        assertTrue(over());
        nowNs++;
        assertFalse(over());
        round.ended(1);
        round.started(2, nowNs);
        assertFalse(over());
    }

    @Test
    void whoAsksNoMoreOrIsGoneHoldsNothingUp() {
        for (long id = 2; id <= 3; id++) {
            round.waits(id, true);
        }
        turn(1);
        round.waits(2, false);
        assertFalse(over());
        round.left(3);
        assertTrue(over());
        round.started(1, nowNs);
        nowNs += 100;
        assertFalse(over());
        round.left(1);
        assertFalse(over());
    }

    @Test
    void nothingIsOverBeforeTheFirstTurn() {
        turn(1);
        assertTrue(over());
        round.restart();
        assertFalse(over());
    }
}
