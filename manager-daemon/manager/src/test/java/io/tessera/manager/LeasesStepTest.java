package io.tessera.manager;

import static io.tessera.manager.memory.SteppedManager.GPU;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.protocol.message.MessageEncoder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Limits of tenants as their clients see them, step by step. The ledger's own arithmetic has tests of its own. */
@Timeout(180)
class LeasesStepTest {
    private static final long GIB = 1L << 30;

    private SteppedManager stepped;

    @BeforeEach
    void start() throws Exception {
        stepped = new SteppedManager();
    }

    @AfterEach
    void end() {
        stepped.close();
    }

    /** Returns a client with a context; the messages to it are still to be read. */
    private InMemoryClient comes(int pid, int uid, String tenant, long limitBytes) throws Exception {
        InMemoryClient peer = stepped.connect(pid, uid).hello(tenant, limitBytes).device(0, GPU);
        stepped.step();
        return peer;
    }

    private void ask(InMemoryClient peer, long bytes) throws Exception {
        peer.send(p -> MessageEncoder.quotaAsk(p, 0, bytes));
        stepped.step();
    }

    private void giveBack(InMemoryClient peer, long leaseBytes) throws Exception {
        peer.block(0).grantedBytes(leaseBytes);
        peer.send(p -> MessageEncoder.quotaReturn(p, 0, leaseBytes));
        stepped.step();
    }

    @Test
    void withoutALimitTheFirstLeaseIsEverything() throws Exception {
        InMemoryClient peer = comes(1, 500, "team", 0);
        assertEquals(List.of("welcome 1", "lease 0 18446744073709551615"), peer.heard());
        assertEquals(0, peer.block(0).limitBytes());
        ask(peer, 1 << 20);
        assertEquals(List.of("lease 0 18446744073709551615"), peer.heard());
    }

    @Test
    void whoAnnouncesADeviceTwiceIsAnsweredTwice() throws Exception {
        InMemoryClient peer = comes(1, 500, "team", GIB);
        peer.device(0, GPU);
        stepped.step();
        assertEquals(List.of("welcome 1", "lease 0 " + GIB, "lease 0 " + GIB), peer.heard());
    }

    @Test
    void aTenantsClientsShareItsLimitAndGiveBackWhatTheyDoNotUse() throws Exception {
        InMemoryClient one = comes(1, 500, "team", 8 * GIB);
        assertEquals(List.of("welcome 1", "lease 0 " + 8 * GIB), one.heard(), "the first has it all");
        InMemoryClient two = comes(2, 500, "team", 0);
        assertEquals(List.of("welcome 2", "lease 0 0"), two.heard());
        assertEquals(8 * GIB, two.block(0).limitBytes());
        ask(two, 2 * GIB);
        assertEquals(List.of("trim 0"), one.heard());
        assertEquals(List.of(), two.heard(), "waits for the other one");
        giveBack(one, 3 * GIB);
        assertEquals(List.of("lease 0 " + 2 * GIB), two.heard());
        ask(two, 9 * GIB);
        assertEquals(List.of("lease 0 " + 2 * GIB), two.heard(), "beyond the limit: answered at once");
        ask(two, -1);
        assertEquals(List.of("lease 0 " + 2 * GIB), two.heard());
    }

    @Test
    void whoeverSaysNothingIsNotWaitedForTwoSeconds() throws Exception {
        InMemoryClient one = comes(1, 500, "team", GIB);
        InMemoryClient two = comes(2, 500, "team", GIB);
        two.heard();
        ask(two, GIB / 2);
        stepped.stepAfterMs(999);
        assertEquals(List.of(), two.heard());
        stepped.stepAfterMs(1);
        assertEquals(List.of("lease 0 0"), two.heard());
        assertTrue(one.heard().contains("trim 0"));
    }

    @Test
    void whoDiesFreesItsLease() throws Exception {
        InMemoryClient one = comes(1, 500, "team", GIB);
        InMemoryClient two = comes(2, 500, "team", GIB);
        two.heard();
        ask(two, GIB / 2);
        one.die();
        stepped.step();
        assertEquals(List.of("lease 0 " + GIB), two.heard(), "alone it gets all");
    }

    @Test
    void theLimitEndsWithTheTenantsLastClient() throws Exception {
        comes(1, 500, "team", GIB).die();
        stepped.step();
        assertEquals(List.of("welcome 2", "lease 0 18446744073709551615"), comes(2, 500, "team", 0).heard());
    }

    @Test
    void equalLabelsOfTwoUsersAreTwoTenants() throws Exception {
        assertEquals("lease 0 1000", comes(1, 500, "team", 1000).heard().getLast());
        assertEquals("lease 0 500", comes(2, 501, "team", 500).heard().getLast());
    }

    @Test
    void aLimitThatComesLaterHoldsForThoseWhoAreThere() throws Exception {
        InMemoryClient one = comes(1, 500, "team", 0);
        one.heard();
        InMemoryClient two = comes(2, 500, "team", GIB);
        assertEquals(List.of("trim 0"), one.heard());
        assertEquals(GIB, one.block(0).limitBytes());
        two.heard();
        giveBack(one, GIB / 4);
        ask(two, GIB / 2);
        giveBack(one, GIB / 4);
        assertEquals(List.of("lease 0 " + GIB / 2), two.heard());
    }

    @Test
    void whoRegistersAgainKeepsWhatItUses() throws Exception {
        comes(1, 500, "team", GIB);
        InMemoryClient again = stepped.connect(2, 500).hello("team", GIB);
        stepped.step();
        again.block(0).usedBytes(GIB / 2);
        again.device(0, GPU);
        stepped.step();
        assertEquals(List.of("welcome 2", "lease 0 " + GIB / 2, "trim 0"), again.heard(),
                "and is asked for the rest, as the other one is: together they have more than the limit");
    }

    @Test
    void leaseMessagesKeepTheirOrderAndNumberInAFullSocket() throws Exception {
        InMemoryClient one = comes(1, 500, "team", GIB);
        one.heard();
        one.room = 0;
        ask(one, 1);
        ask(one, 2);
        comes(2, 500, "team", GIB).send(p -> MessageEncoder.quotaAsk(p, 0, 1));
        stepped.step();
        one.room = 10;
        stepped.step();
        assertEquals(List.of("lease 0 " + GIB, "lease 0 " + GIB, "trim 0"), one.heard());
    }

    @Test
    void whoAsksWithoutReadingIsLetGo() throws Exception {
        InMemoryClient one = comes(1, 500, "team", GIB);
        one.heard();
        one.room = 0;
        for (int i = 0; i < 1025; i++) {
            one.send(p -> MessageEncoder.quotaAsk(p, 0, GIB));
        }
        stepped.step();
        stepped.step();
        assertTrue(one.isClosedByManager());
    }

    @Test
    void useElsewhereIsWrittenFourTimesASecond() throws Exception {
        InMemoryClient one = comes(1, 500, "team", 1000);
        InMemoryClient two = comes(2, 500, "team", 0);
        InMemoryClient stranger = comes(3, 500, "others", 0);
        one.block(0).usedBytes(300);
        two.block(0).usedBytes(40);
        stepped.stepAfterMs(250);
        assertEquals(40, one.block(0).tenantElsewhereBytes());
        assertEquals(300, two.block(0).tenantElsewhereBytes());
        assertEquals(0, stranger.block(0).tenantElsewhereBytes());
    }
}
