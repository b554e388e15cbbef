package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.os.Errno;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Admission, refusal and disconnection of clients. */
@Timeout(180)
class AdmissionStepTest {
    private SteppedManager stepped;

    @BeforeEach
    void start() throws Exception {
        stepped = new SteppedManager();
    }

    @AfterEach
    void everythingIsGivenBack() {
        stepped.close();
        assertEquals(List.of(), stepped.segments());
        assertEquals(0, stepped.linux.openDescriptors(), "open descriptors");
    }

    @Test
    void whoSaysNothingIsLetGo() throws Exception {
        InMemoryClient silent = stepped.connect(1, 500);
        stepped.stepAfterMs(4_999);
        assertFalse(silent.isClosedByManager());
        stepped.stepAfterMs(5_001);
        assertEquals(List.of("refused 2: it did not say HELLO within 5 s", "closed"), silent.heard());
    }

    @Test
    void whoOpensTooManyConnectionsEndsHisOwn() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context);
        InMemoryClient other = stepped.connect(1, 501);
        InMemoryClient oldest = stepped.connect(2, 500);
        for (int i = 0; i < 256; i++) {
            stepped.connect(3 + i, 500);
            if (i % 50 == 0) {
                stepped.step(); // no more are accepted in one cycle
            }
        }
        for (int i = 0; i < 8; i++) {
            stepped.step();
        }
        assertEquals(List.of("refused 2: more than 256 processes of this user have not said HELLO", "closed"), oldest.heard());
        assertFalse(other.isClosedByManager());
        other.hello("team", 0);
        stepped.step();
        assertFalse(other.isClosedByManager());
    }

    @Test
    void beyondTheLimitClientsAreRefusedUntilOneGoes() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context.withMaxClients(2));
        InMemoryClient first = stepped.client(1);
        stepped.client(2);
        InMemoryClient third = stepped.connect(3, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of(
                "refused 5: as many clients as this manager admits are there already: 2 (--max-clients); tessera run --wait waits for a place",
                "closed"), third.heard());
        first.die();
        stepped.step();
        InMemoryClient fourth = stepped.connect(4, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of("welcome 3"), fourth.heard());
    }

    @Test
    void whoHasWaitedGetsThePlaceThatOneLeaves() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context.withMaxClients(1));
        InMemoryClient first = stepped.client(1);
        InMemoryClient control = stepped.control(500);
        String wish = "{\"request\":\"admission\",\"tenant\":\"waiter\",\"pid\":9,\"startTicks\":4711}\n";
        assertEquals("{\"ok\":true,\"admitted\":false,\"place\":1,\"waiting\":1,\"reason\":\"as many clients as this manager admits are there"
                + " already: 1 (--max-clients)\"}\n", say(control, wish));
        first.die();
        stepped.step();
        InMemoryClient other = stepped.connect(4, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of("refused 5: as many clients as this manager admits are there already: 1 (--max-clients); of these 1 is kept for"
                + " programs that are starting; tessera run --wait waits for a place", "closed"), other.heard());
        assertEquals("{\"ok\":true,\"admitted\":true,\"place\":0,\"waiting\":0,\"reason\":\"\"}\n", say(control, wish));
        InMemoryClient waiter = stepped.connect(9, 500).hello("waiter", 0);
        stepped.step();
        assertEquals(List.of("welcome 2"), waiter.heard());
        assertFalse(say(control, "{\"request\":\"status\"}\n").contains("waiting\":["));
    }

    @Test
    void aPlaceIsKeptForAnOddLabelToo() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context.withMaxClients(1));
        say(stepped.control(500), "{\"request\":\"admission\",\"tenant\":\"a\\u001bb\",\"pid\":9,\"startTicks\":4711}\n");
        InMemoryClient waiter = stepped.connect(9, 500).hello("a\u001bb", 0);
        stepped.step();
        assertEquals(List.of("welcome 1"), waiter.heard());
    }

    /** The queue sleeps until a process has to be checked. */
    @Test
    void whoNoLongerAsksLeavesTheQueue() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context.withMaxClients(1));
        stepped.client(1);
        InMemoryClient control = stepped.control(500);
        say(control, "{\"request\":\"admission\",\"tenant\":\"waiter\",\"pid\":9,\"startTicks\":4711}\n");
        assertTrue(say(control, "{\"request\":\"status\"}\n").contains("\"waiting\":[{\"place\":1,\"pid\":9,"));
        stepped.stepAfterMs(5_000);
        assertFalse(say(control, "{\"request\":\"status\"}\n").contains("waiting\":["));
    }

    private String say(InMemoryClient peer, String text) throws Exception {
        peer.sendRaw(text.getBytes(StandardCharsets.UTF_8));
        stepped.step();
        return peer.heardText();
    }

    @Test
    void noUserTakesAllPlacesOfRootsManager() throws Exception {
        stepped.close();
        stepped = new SteppedManager(0, context -> context.withMaxClients(8));
        for (int pid = 1; pid <= 6; pid++) {
            stepped.connect(pid, 500).hello("team", 0);
        }
        stepped.step();
        InMemoryClient seventh = stepped.connect(7, 500).hello("team", 0);
        InMemoryClient other = stepped.connect(8, 501).hello("team", 0);
        InMemoryClient root = stepped.connect(9, 0).hello("team", 0);
        stepped.step();
        assertEquals(List.of("refused 5: user 500 has as many clients as one user may have: 6 of 8 (--max-clients); tessera run --wait waits"
                + " for a place", "closed"), seventh.heard());
        assertEquals(List.of("welcome 7"), other.heard());
        assertEquals(List.of("welcome 8"), root.heard());
    }

    @Test
    void aUsersManagerServesThatUserAndRoot() throws Exception {
        stepped.close();
        stepped = new SteppedManager(1000, context -> context);
        InMemoryClient own = stepped.connect(1, 1000).hello("a", 0);
        InMemoryClient root = stepped.connect(2, 0).hello("b", 0);
        InMemoryClient alien = stepped.connect(3, 1001).hello("c", 0);
        stepped.step();
        assertEquals(List.of("welcome 1"), own.heard());
        assertEquals(List.of("welcome 2"), root.heard());
        assertEquals(List.of("refused 4: this manager belongs to user 1000 and does not serve user 1001", "closed"),
                alien.heard());
    }

    @Test
    void aFullShmIsARefusalAndLeavesNothing() throws Exception {
        stepped.linux.files.reserveErrno = Errno.ENOSPC;
        InMemoryClient peer = stepped.connect(1, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of("refused 3: no space for a segment of 131072 bytes in /dev/shm/tessera-0 (ENOSPC; make room there, or start the "
                + "manager with another TESSERA_SHM_DIR)",
                "closed"), peer.heard());
        assertEquals(List.of(), stepped.segments());
        stepped.linux.files.reserveErrno = 0;
        InMemoryClient later = stepped.connect(2, 500).hello("team", 0);
        stepped.step();
        assertEquals(List.of("welcome 2"), later.heard());
    }

    @Test
    void whenDescriptorsRunOutTakingPausesAndGoesOn() throws Exception {
        InMemoryClient peer = stepped.connect(1, 500).hello("team", 0);
        stepped.linux.acceptErrno = Errno.EMFILE;
        stepped.step();
        stepped.linux.acceptErrno = 0;
        assertEquals(0, stepped.manager.doWork(), "does not spin on the readable listener");
        assertEquals(List.of(), peer.heard());
        stepped.stepAfterMs(1_000);
        stepped.step();
        assertEquals(List.of("welcome 1"), peer.heard());
    }
}
