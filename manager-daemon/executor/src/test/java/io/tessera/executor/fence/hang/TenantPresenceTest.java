package io.tessera.executor.fence.hang;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.fence.hang.TenantPresence.Member;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Who may run kernels without a fence, and who may come in. */
class TenantPresenceTest {
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
    void kernelsThatCannotBeFencedKeepOtherUsersOut() {
        Member first = enter("a", 1);
        assertNull(presence.refusal(2));
        assertTrue(first.isAmongItsOwn());
        first.unfencedImages(1);
        assertNotNull(presence.refusal(2));
        assertNull(presence.refusal(1));
        first.unfencedImages(0);
        assertNull(presence.refusal(2));
        enter("b", 2);
        assertFalse(first.isAmongItsOwn());
    }

    /** Work that was told to end may wait for endless work of its user's other programs, which nobody else has to answer for. */
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
