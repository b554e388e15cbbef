package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.memory.MemoryPeer;
import io.tessera.manager.memory.RecordingLauncher.Started;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.protocol.Hello;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.MessageEncoder;
import io.tessera.protocol.RelayMessageEncoder;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Executors as the manager starts, watches and announces them, step by step. */
@Timeout(60)
class ExecutorsStepTest {
    private SteppedManager stepped;

    @AfterEach
    void end() {
        stepped.close();
    }

    private MemoryPeer asking(int pid) throws Exception {
        MemoryPeer peer = stepped.connect(pid, 500).send(p -> MessageEncoder.hello(p,
                new Hello(pid, MemoryPlan.RELAY, 5, 1 << 20, "team", "train.py")));
        stepped.step();
        peer.heard();
        peer.send(RelayMessageEncoder::ask);
        stepped.step();
        return peer;
    }

    private Started executor(int start) {
        return stepped.launcher.started.get(start);
    }

    @Test
    void theFirstWhoAsksStartsOneForEachDeviceAndIsToldOfThem() throws Exception {
        stepped = new SteppedManager();
        assertTrue(stepped.launcher.started.isEmpty(), "nobody has asked");
        MemoryPeer peer = asking(42);
        assertEquals(1, stepped.launcher.started.size());
        executor(0).ready(2);
        stepped.step();
        assertEquals(2, stepped.launcher.started.size());
        assertEquals(List.of(), peer.heard(), "the second one is on its way");
        executor(1).ready(2);
        stepped.step();
        assertEquals(List.of("relay 0 of 2 ", "relay 1 of 2 "), peer.heard());
        JsonObject admitted = executor(1).told.getFirst().getAsJsonObject("admit");
        assertEquals(42, admitted.get("pid").getAsInt());
        assertEquals(500, admitted.get("uid").getAsInt());
        assertEquals("team", admitted.get("tenant").getAsString());
        assertEquals(1 << 20, admitted.get("limitBytes").getAsLong());
        assertEquals(List.of("relay 0 of 2 ", "relay 1 of 2 "), asking(43).heard(), "they run already");
        assertEquals(2, stepped.launcher.started.size());
    }

    @Test
    void devicesOfRelayedClientsTakeNoTurns() throws Exception {
        stepped = new SteppedManager();
        MemoryPeer peer = asking(42);
        peer.device(0, SteppedManager.GPU);
        stepped.step();
        assertTrue(stepped.schedulers.isEmpty());
    }

    @Test
    void withoutADeviceTheReasonIsToldAndAskedAgainLater() throws Exception {
        stepped = new SteppedManager();
        MemoryPeer peer = asking(42);
        executor(0).says("{\"failed\":{\"reason\":\"no driver here\"}}");
        executor(0).dies();
        stepped.step();
        assertEquals(List.of("relay 0 of 0 no driver here"), peer.heard());
        assertEquals(List.of("relay 0 of 0 no driver here"), asking(43).heard(), "at once, without another start");
        stepped.clock.advanceMs(5000);
        stepped.step();
        asking(44);
        assertEquals(2, stepped.launcher.started.size());
    }

    @Test
    void oneThatIsNotReadyInTimeIsEnded() throws Exception {
        stepped = new SteppedManager();
        MemoryPeer peer = asking(42);
        stepped.clock.advanceMs(31000);
        stepped.step();
        stepped.step();
        assertTrue(executor(0).stopped);
        assertEquals(1, peer.heard().size());
    }

    @Test
    void oneThatDiesComesBackAfterAPauseThatGrows() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
        executor(0).dies();
        stepped.step();
        MemoryPeer waiting = asking(43);
        assertEquals(List.of(), waiting.heard());
        assertEquals(1, stepped.launcher.started.size());
        stepped.clock.advanceMs(1000);
        stepped.step();
        assertEquals(2, stepped.launcher.started.size());
        executor(1).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), waiting.heard());
        executor(0).dies(); // an old process does not count
        stepped.step();
        executor(1).dies();
        stepped.step();
        stepped.clock.advanceMs(999);
        stepped.step();
        assertEquals(2, stepped.launcher.started.size(), "the pause has grown");
        stepped.clock.advanceMs(1);
        stepped.step();
        assertEquals(3, stepped.launcher.started.size());
    }

    @Test
    void nobodyIsSentToOneThatSaysItCannotGoOn() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
        executor(0).says("{\"failed\":{\"reason\":\"the context is lost\"}}");
        stepped.step();
        MemoryPeer waiting = asking(43);
        assertEquals(List.of(), waiting.heard(), "it tells its clients and ends");
        executor(0).dies();
        stepped.step();
        stepped.clock.advanceMs(1000);
        stepped.step();
        executor(1).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), waiting.heard());
        executor(1).says("{\"failed\":{\"reason\":\"the context is lost\"}}");
        stepped.step();
        stepped.clock.advanceMs(20_000);
        stepped.step();
        assertTrue(executor(1).stopped, "one that does not end is ended");
    }

    @Test
    void statusShowsThemAndTheManagersEndEndsThem() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        executor(0).says("{\"stats\":{\"clients\":[{\"client\":1,\"usedBytes\":77,\"calls\":5,\"launches\":6,"
                + "\"records\":11,\"rejected\":0}]}}");
        stepped.step();
        MemoryPeer control = stepped.control(0).sendRaw("{\"request\":\"status\"}\n".getBytes());
        stepped.step();
        String status = control.heardText();
        assertTrue(status.contains("\"executors\":[{\"ordinal\":0,\"state\":\"ready\","), status);
        assertTrue(status.contains("\"pid\":900,\"usedBytes\":77,\"restarts\":0"), status);
        assertTrue(status.contains("\"plan\":\"relay\""), status);
        assertFalse(executor(0).stopped);
        stepped.close();
        assertTrue(executor(0).stopped);
    }

    @Test
    void noneAreStartedIfNoneAreWanted() throws Exception {
        stepped = new SteppedManager(0, context -> context.withExecutors(ExecutorKind.NONE, 0));
        MemoryPeer peer = asking(42);
        assertTrue(peer.heard().getFirst().startsWith("relay 0 of 0 this manager starts no executors"));
        assertTrue(stepped.launcher.started.isEmpty());
    }
}
