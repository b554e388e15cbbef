package io.tessera.executor.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Places that the threads of tenants wait for. */
@Timeout(180)
class TenantTurnsTest {
    private static final long LONG_NS = TimeUnit.SECONDS.toNanos(50);

    private static TenantTurns turns(int places, long mostWaitNs) {
        return new TenantTurns(places, mostWaitNs, Clocks.system().monotonic());
    }

    private static CompletableFuture<Boolean> ask(TenantTurns turns, String tenant) {
        return CompletableFuture.supplyAsync(() -> turns.await(tenant, false, () -> false), task -> Thread.ofPlatform().daemon().start(task));
    }

    @Test
    void aTenantHasOnePlaceAndOthersTheRest() throws Exception {
        TenantTurns turns = turns(2, LONG_NS);
        assertTrue(turns.await("a", false, () -> false));
        CompletableFuture<Boolean> again = ask(turns, "a");
        assertTrue(turns.await("b", false, () -> false), "a's second does not stand in the way");
        assertEquals(2, turns.busy());
        assertFalse(again.isDone());
        turns.ended("b", 1);
        assertFalse(again.isDone(), "there is a place, but it is not a's");
        turns.ended("a", 1);
        assertTrue(again.get());
        assertEquals(1, turns.busy());
    }

    @Test
    void aTurnThatDoesNotComeIsNone() throws Exception {
        TenantTurns turns = turns(1, 1_000_000);
        assertTrue(turns.await("a", false, () -> false));
        assertFalse(turns.await("b", false, () -> false));
        turns.ended("a", 1);
        assertTrue(turns.await("b", false, () -> false), "and holds nobody up");
    }

    @Test
    void whoGivesUpIsWoken() throws Exception {
        TenantTurns turns = turns(1, LONG_NS);
        assertTrue(turns.await("a", false, () -> false));
        AtomicBoolean gone = new AtomicBoolean();
        CompletableFuture<Boolean> waits = CompletableFuture.supplyAsync(() -> turns.await("b", false, gone::get),
                task -> Thread.ofPlatform().daemon().start(task));
        gone.set(true);
        while (!waits.isDone()) {
            turns.wake();
            Thread.onSpinWait();
        }
        assertFalse(waits.get());
    }

    @Test
    void whoHasNoPlaceBecauseAnotherUsersWorkHoldsAllGetsOneBesideThem() throws Exception {
        TenantTurns turns = turns(2, LONG_NS);
        assertTrue(turns.await("a of user 7", false, () -> false));
        assertTrue(turns.await("b of user 7", false, () -> false));
        CompletableFuture<Boolean> sameUser = ask(turns, "c of user 7");
        assertTrue(turns.await("a of user 8", false, () -> false), "another user's long work holds it up");
        assertTrue(turns.await("a", false, () -> false), "also the manager's own user has one");
        CompletableFuture<Boolean> second = ask(turns, "b of user 8");
        assertFalse(sameUser.isDone() || second.isDone());
        turns.ended("a of user 8", 1);
        assertTrue(second.get(), "the user has none any more");
        assertFalse(sameUser.isDone());
        turns.ended("a", 1);
        turns.ended("b of user 8", 1);
        turns.ended("a of user 7", 1);
        assertTrue(sameUser.get());
    }

    /** Also beside long work of the same user; but not so much that another user finds no place. */
    @Test
    void shortWorkDoesNotWaitForLongWork() throws Exception {
        TenantTurns turns = turns(1, 100_000_000);
        assertTrue(turns.await("long", false, () -> false));
        assertFalse(turns.await("also long", false, () -> false));
        assertFalse(turns.await("long", true, () -> false), "of one tenant, one after the other");
        assertTrue(turns.await("a", true, () -> false));
        assertTrue(turns.await("b", true, () -> false));
        assertFalse(turns.await("c", true, () -> false));
        assertTrue(turns.await("a of user 7", false, () -> false));
        turns.ended("b", 1);
        assertTrue(turns.await("c", true, () -> false));
    }

    @Test
    void placesBesideTheOthersAreFew() throws Exception {
        TenantTurns turns = turns(1, 100_000_000);
        for (int user = 1; user <= 5; user++) {
            assertTrue(turns.await("a of user " + user, false, () -> false));
        }
        assertFalse(turns.await("a of user 6", false, () -> false));
    }
}
