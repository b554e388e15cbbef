package io.tessera.memory;

import static io.tessera.memory.QuotaDecision.UNLIMITED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class QuotaLedgerTest {
    private static final String GPU = "GPU-0";
    private static final long MIB = 1L << 20;
    private static final long GIB = 1L << 30;
    private static final long SECOND = 1_000_000_000L;

    private final QuotaLedger ledger = new QuotaLedger();

    @Test
    void withoutALimitNobodyEverAsks() {
        assertEquals(UNLIMITED, ledger.join("a", GPU, 1));
        assertEquals(UNLIMITED, ledger.join("a", GPU, 2));
        assertEquals(new QuotaDecision.Granted(UNLIMITED), ledger.ask(1, GPU, GIB, SECOND));
        assertEquals(Long.MAX_VALUE, ledger.nextDeadlineNs());
    }

    @Test
    void theFirstClientGetsTheWholeLimit() {
        ledger.limit("a", GPU, 8 * GIB);
        assertEquals(8 * GIB, ledger.join("a", GPU, 1));
        assertEquals(0, ledger.join("a", GPU, 2));
        assertEquals(UNLIMITED, ledger.join("b", GPU, 3));
        assertEquals(UNLIMITED, ledger.join("a", "GPU-1", 1));
    }

    @Test
    void aSecondClientGetsWhatTheFirstGivesBack() {
        ledger.limit("a", GPU, 8 * GIB);
        ledger.join("a", GPU, 1);
        ledger.join("a", GPU, 2);
        assertEquals(new QuotaDecision.Trim(List.of(1L)), ledger.ask(2, GPU, GIB, SECOND));
        assertEquals(SECOND, ledger.nextDeadlineNs());
        assertEquals(List.of(), ledger.decided(0));
        assertTrue(ledger.returned(1, GPU, 3 * GIB));
        assertEquals(List.of(new QuotaAnswer(2, GPU, new QuotaDecision.Granted(GIB))), ledger.decided(1));
        assertEquals(3 * GIB, ledger.leaseBytes(1, GPU));
        assertEquals(4 * GIB, ledger.leasedBytes("a", GPU));
        // There is room now: no other client has to be asked, and small requests get a whole unit of grants.
        assertEquals(new QuotaDecision.Granted(GIB + 64 * MIB), ledger.ask(2, GPU, 5, SECOND));
    }

    @Test
    void whoLeavesMakesRoom() {
        ledger.limit("a", GPU, GIB);
        ledger.join("a", GPU, 1);
        ledger.join("a", GPU, 2);
        ledger.ask(2, GPU, GIB, SECOND);
        ledger.leave(1);
        assertEquals(List.of(new QuotaAnswer(2, GPU, new QuotaDecision.Granted(GIB))), ledger.decided(1));
        ledger.leave(1);
        ledger.leave(99);
    }

    @Test
    void whoAloneAsksGetsAllThatIsFree() {
        ledger.limit("a", GPU, GIB);
        ledger.join("a", GPU, 1);
        ledger.limit("a", GPU, 3 * GIB);
        assertEquals(new QuotaDecision.Granted(3 * GIB), ledger.ask(1, GPU, 1, SECOND));
    }

    @Test
    void refusedWithTheNumbersWhenNothingComesBack() {
        ledger.limit("a", GPU, GIB);
        ledger.join("a", GPU, 1);
        ledger.join("a", GPU, 2);
        ledger.ask(2, GPU, 10, SECOND);
        ledger.returned(1, GPU, GIB);
        QuotaDecision decision = ledger.decided(1).getFirst().decision();
        QuotaDecision.Refused refused = assertInstanceOf(QuotaDecision.Refused.class, decision);
        assertEquals(0, refused.leaseBytes());
        assertTrue(refused.reason().contains("tenant a") && refused.reason().contains("" + GIB), refused::reason);
    }

    @Test
    void refusedAtTheDeadlineWhenNobodyAnswers() {
        ledger.limit("a", GPU, GIB);
        ledger.join("a", GPU, 1);
        ledger.join("a", GPU, 2);
        ledger.ask(2, GPU, 10, SECOND);
        assertEquals(List.of(), ledger.decided(SECOND - 1));
        assertInstanceOf(QuotaDecision.Refused.class, ledger.decided(SECOND).getFirst().decision());
        assertEquals(Long.MAX_VALUE, ledger.nextDeadlineNs());
        // The late return still counts, for the next client that asks.
        assertTrue(ledger.returned(1, GPU, 0));
        assertInstanceOf(QuotaDecision.Granted.class, ledger.ask(2, GPU, 10, 2 * SECOND));
    }

    @Test
    void moreThanTheLimitIsRefusedAtOnce() {
        ledger.limit("a", GPU, GIB);
        ledger.join("a", GPU, 1);
        assertInstanceOf(QuotaDecision.Refused.class, ledger.ask(1, GPU, 1, SECOND));
        assertInstanceOf(QuotaDecision.Refused.class, ledger.ask(1, GPU, Long.MAX_VALUE, SECOND));
    }

    @Test
    void aReturnThatAnAnswerOvertookIsPassedOver() {
        ledger.limit("a", GPU, 4 * GIB);
        ledger.join("a", GPU, 1);
        ledger.join("a", GPU, 2);
        assertEquals(new QuotaDecision.Trim(List.of(1L)), ledger.ask(2, GPU, GIB, SECOND));
        // Client 1 has not seen its trim yet and asks; its refusal is sent after the trim.
        ledger.ask(1, GPU, GIB, 10);
        ledger.decided(10);
        // It gave back, and then took the lease of the answer: 4 GiB.
        assertFalse(ledger.returned(1, GPU, GIB));
        assertEquals(4 * GIB, ledger.leaseBytes(1, GPU));
    }

    @Test
    void aReturnThatAnswersNoTrimIsPassedOver() {
        ledger.limit("a", GPU, GIB);
        ledger.join("a", GPU, 1);
        assertFalse(ledger.returned(1, GPU, 0));
        assertEquals(GIB, ledger.leaseBytes(1, GPU));
        assertThrows(IllegalArgumentException.class, () -> ledger.returned(1, GPU, -1));
        assertThrows(IllegalStateException.class, () -> ledger.returned(2, GPU, 0));
    }

    @Test
    void aLoweredLimitTakesNothingAwayThatIsUsed() {
        ledger.limit("a", GPU, 4 * GIB);
        ledger.join("a", GPU, 1);
        assertEquals(new LimitChange(Map.of(), List.of(1L)), ledger.limit("a", GPU, 2 * GIB));
        ledger.returned(1, GPU, 3 * GIB);
        assertEquals(3 * GIB, ledger.leaseBytes(1, GPU));
        assertInstanceOf(QuotaDecision.Refused.class, ledger.ask(1, GPU, 1, SECOND));
    }

    @Test
    void aLimitThatGoesAwayOpensEveryLease() {
        ledger.limit("a", GPU, GIB);
        ledger.join("a", GPU, 1);
        ledger.join("a", GPU, 2);
        ledger.ask(2, GPU, 10, SECOND);
        assertEquals(new LimitChange(Map.of(1L, UNLIMITED, 2L, UNLIMITED), List.of()), ledger.limit("a", GPU, 0));
        assertEquals(List.of(), ledger.decided(2 * SECOND));
        assertEquals(new LimitChange(Map.of(), List.of(1L, 2L)), ledger.limit("a", GPU, GIB));
    }

    @Test
    void clientsOfAnEarlierManagerKeepTheirLeases() {
        ledger.limit("a", GPU, 4 * GIB);
        assertEquals(new LimitChange(Map.of(), List.of()), ledger.rejoin("a", GPU, 1, 3 * GIB));
        assertEquals(0, ledger.join("a", GPU, 2));
        assertEquals(new LimitChange(Map.of(), List.of(1L, 3L)), ledger.rejoin("a", GPU, 3, 3 * GIB));
        assertThrows(IllegalStateException.class, () -> ledger.join("a", GPU, 3));
    }
}
