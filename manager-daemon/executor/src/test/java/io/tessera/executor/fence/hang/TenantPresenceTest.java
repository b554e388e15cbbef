package io.tessera.executor.fence.hang;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.fence.hang.TenantPresence.Member;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which clients may run kernels without a fence, and which may be admitted. */
class TenantPresenceTest {
    private static final int ROUNDS = 3000;
    private final TenantPresence presence = new TenantPresence();
    private final AtomicInteger settled = new AtomicInteger();

    private Member enter(String tenant, int uid) {
        return presence.enter(tenant, uid, settled::incrementAndGet);
    }

    @Test
    void whoIsAloneRunsUnfencedUntilSomebodyElseWaits() {
        Member first = enter("a", 1);
        Member sibling = enter("a", 1);
        assertTrue(first.mayRunNative(), "two clients of one tenant are alone");
        assertFalse(first.mustSettle());
        Member second = enter("b", 1);
        assertFalse(presence.isSettled(second));
        assertFalse(first.mayRunNative());
        assertTrue(first.mustSettle());
        assertFalse(sibling.mustSettle(), "it ran nothing");
        first.settle();
        assertEquals(1, settled.get());
        assertTrue(presence.isSettled(second));
        assertFalse(first.mayRunNative());
        presence.leave(second);
        assertTrue(first.mayRunNative(), "alone again");
    }

    @Test
    void codeThatMayLeaveItsWindowKeepsOtherUsersOut() {
        Member first = enter("a", 1);
        assertTrue(first.isAmongItsOwn());
        assertTrue(first.keepOthersOut());
        assertNull(enter("b", 2));
        assertTrue(first.isAmongItsOwn(), "nobody came in");
        assertNotNull(enter("c", 1), "one of its own user");
        first.letOthersIn();
        assertNotNull(enter("b", 2));
        assertFalse(first.isAmongItsOwn());
        assertFalse(first.keepOthersOut(), "others are there");
    }

    @Test
    void whoLeavesKeepsNobodyOut() {
        Member first = enter("a", 1);
        assertTrue(first.keepOthersOut());
        presence.leave(first);
        Member other = enter("b", 2);
        assertNotNull(other);
        Member second = enter("a", 1);
        assertFalse(second.keepOthersOut());
        presence.leave(other);
        assertTrue(second.keepOthersOut(), "the other user has gone");
    }

    @Test
    void codeThatIsStillRunningWhenItsImageGoesIsWaitedFor() {
        Member first = enter("a", 1);
        assertTrue(first.keepOthersOut());
        first.letOthersIn();
        Member other = enter("b", 2);
        assertFalse(presence.isSettled(other));
        assertTrue(first.mustSettle());
        assertTrue(first.hasRunNative(), "events that were made before say nothing of it");
        first.settle();
        assertTrue(presence.isSettled(other));
        first.letOthersIn();
        assertTrue(presence.isSettled(other), "it kept nobody out");
    }

    /** A client that is allowed to launch, and a client that comes in: never both. */
    @Test
    @Timeout(60)
    void nobodyComesInBetweenTheAnswerAndTheLaunch() throws Exception {
        int both = 0;
        int kept = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Member first = enter("a", 1);
            CyclicBarrier start = new CyclicBarrier(2);
            AtomicReference<Member> came = new AtomicReference<>();
            Thread newcomer = Thread.ofPlatform().start(() -> {
                await(start);
                came.set(enter("b", 2));
            });
            await(start);
            boolean may = first.keepOthersOut();
            newcomer.join();
            both += may == (came.get() != null) ? 1 : 0;
            kept += may ? 1 : 0;
            presence.leave(first);
            if (came.get() != null) {
                presence.leave(came.get());
            }
        }
        assertEquals(0, both, "rounds in which both or none may, of " + ROUNDS + "; " + kept + " launched");
    }

    private static void await(CyclicBarrier start) {
        try {
            start.await(10, TimeUnit.SECONDS);
        } catch (InterruptedException | BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Work that was told to end may wait for endless work of its user's other programs; no other user is affected. */
    @Test
    void kernelsOfAUsersOtherProgramsAreEndedOnceAndNobodyElses() {
        Member first = enter("a", 1);
        AtomicInteger halted = new AtomicInteger();
        Member sibling = enter("b", 1);
        sibling.turn().onHalt(halted::incrementAndGet);
        first.turn().onHalt(() -> halted.addAndGet(100));
        enter("c", 2).turn().onHalt(() -> halted.addAndGet(100));
        assertTrue(first.haltOthersOfUser(5));
        assertEquals(1, halted.get());
        assertTrue(sibling.turn().isHalted());
        assertFalse(first.haltOthersOfUser(6), "they were told");
        assertEquals(1, halted.get());
        sibling.turn().ended();
        assertTrue(first.haltOthersOfUser(7), "there is new work");
    }
}
