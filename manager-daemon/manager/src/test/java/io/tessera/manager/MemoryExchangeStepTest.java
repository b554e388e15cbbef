package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.segment.ResidencyBlock;
import io.tessera.protocol.segment.ResidencyState;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which clients get a queue of handed memory, and what happens to its contents. */
@Timeout(120)
class MemoryExchangeStepTest {
    private static final int ALICE = 500;
    private static final int BOB = 501;
    private static final long LOOK_MS = 300;

    private SteppedManager stepped;

    @BeforeEach
    void start() throws Exception {
        stepped = new SteppedManager(0, context -> context);
    }

    @AfterEach
    void end() {
        stepped.close();
    }

    private InMemoryClient client(int pid, int uid, MemoryPlan plan) throws Exception {
        InMemoryClient peer = stepped.connect(pid, uid).hello("t" + pid, 0, plan).device(0, SteppedManager.GPU);
        stepped.step();
        stepped.stepAfterMs(LOOK_MS);
        return peer;
    }

    private static List<String> exchanges(InMemoryClient peer) {
        return peer.heard().stream().filter(word -> word.startsWith("exchange")).toList();
    }

    @Test
    void twoClientsOfAUserGetBothEndsOfOneQueueAndNobodyElseDoes() throws Exception {
        InMemoryClient first = client(1, ALICE, MemoryPlan.SWAP);
        InMemoryClient foreign = client(2, BOB, MemoryPlan.SWAP);
        InMemoryClient plain = client(3, ALICE, MemoryPlan.PLAIN);
        for (InMemoryClient peer : List.of(first, foreign, plain)) {
            assertEquals(List.of(), exchanges(peer), "there is nobody to hand anything to");
        }
        InMemoryClient second = client(4, ALICE, MemoryPlan.SWAP);
        for (InMemoryClient peer : List.of(first, second)) {
            assertEquals(List.of("exchange 0 TAKE", "exchange 0 GIVE"), exchanges(peer));
        }
        assertEquals(2, first.given.size());
        assertSame(first.given.getFirst(), second.given.getFirst());
        assertEquals(List.of(), foreign.given);
        InMemoryClient foreignToo = client(5, BOB, MemoryPlan.SWAP);
        assertNotSame(first.given.getFirst(), foreignToo.given.getFirst());
        assertEquals(List.of(), plain.given);
        stepped.stepAfterMs(LOOK_MS);
        assertEquals(2, first.given.size(), "once is enough");
    }

    @Test
    void whatNobodyTakesIsTakenOutAndTheQueueGoesWithItsLastClient() throws Exception {
        int before = stepped.linux.openDescriptors();
        InMemoryClient first = client(1, ALICE, MemoryPlan.SWAP);
        InMemoryClient second = client(2, ALICE, MemoryPlan.SWAP);
        InMemoryClient queue = first.given.getFirst();
        ResidencyBlock words = second.residency(0);
        words.state(ResidencyState.MOVING_IN);
        queue.sendRaw(new byte[8]).sendRaw(new byte[8]);
        stepped.stepAfterMs(LOOK_MS);
        assertEquals(2, queue.waiting(), "somebody is about to take it");
        words.state(ResidencyState.STEADY);
        stepped.stepAfterMs(LOOK_MS);
        assertEquals(0, queue.waiting());
        for (int i = 0; i < 1000; i++) {
            queue.sendRaw(new byte[8]);
        }
        stepped.stepAfterMs(LOOK_MS);
        assertTrue(queue.waiting() > 800, "a client that floods a queue does not keep the manager: " + queue.waiting());
        for (int i = 0; i < 20; i++) {
            stepped.stepAfterMs(LOOK_MS);
        }
        assertEquals(0, queue.waiting());
        second.die();
        stepped.stepAfterMs(LOOK_MS);
        queue.sendRaw(new byte[8]);
        stepped.stepAfterMs(LOOK_MS);
        assertEquals(0, queue.waiting(), "the other gives on, and nobody takes");
        first.die();
        stepped.stepAfterMs(LOOK_MS);
        stepped.stepAfterMs(LOOK_MS);
        assertTrue(stepped.linux.openDescriptors() <= before, "the queue is closed");
    }
}
