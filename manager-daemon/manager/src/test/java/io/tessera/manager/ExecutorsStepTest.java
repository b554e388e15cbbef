package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.FencePolicy;
import io.tessera.manager.executors.SoftwareDevices;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.protocol.FenceChoice;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.UnfencedPolicy;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.RelayMessageEncoder;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The manager starts, watches and announces executors, step by step. */
@Timeout(180)
class ExecutorsStepTest extends ExecutorSteps {
    @Test
    void theFirstWhoAsksStartsOneForEachDeviceAndIsToldOfThem() throws Exception {
        stepped = new SteppedManager();
        assertTrue(stepped.launcher.started.isEmpty(), "nobody has asked");
        InMemoryClient peer = asking(42);
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
    void whyTheyRunAsRootIsShown() throws Exception {
        stepped = new SteppedManager();
        stepped.launcher.rootBecause = "/root is not open to other users";
        asking(42);
        assertTrue(status().contains("\"rootBecause\":\"/root is not open to other users\""), this::status);
    }

    private JsonObject admitted(FenceWish wish) throws Exception {
        InMemoryClient peer = stepped.connect(50, 500).send(p -> MessageEncoder.hello(p,
                new Hello(50, MemoryPlan.RELAY, 5, 0, "team", "train.py")));
        stepped.step();
        peer.heard();
        peer.send(p -> RelayMessageEncoder.ask(p, wish));
        stepped.step();
        executor(0).ready(1);
        stepped.step();
        return executor(0).told.getLast().getAsJsonObject("admit");
    }

    @Test
    void tenantsChooseTheirFencesWithinWhatTheManagerAllows() throws Exception {
        stepped = new SteppedManager(0, context -> context.withFences(
                new FencePolicy(FenceChoice.CHECK, UnfencedPolicy.TRUSTED, false, 20)));
        JsonObject silent = admitted(FenceWish.none());
        assertEquals("check", silent.get("fence").getAsString());
        assertEquals("trusted", silent.get("unfenced").getAsString());
        assertEquals(0, silent.get("timeoutS").getAsInt());
        assertEquals(20, silent.get("sharedTimeoutS").getAsInt());
        JsonObject bold = admitted(new FenceWish(Optional.of(FenceChoice.MODULO), Optional.of(UnfencedPolicy.OWN), true,
                60));
        assertEquals("modulo", bold.get("fence").getAsString());
        assertEquals("trusted", bold.get("unfenced").getAsString(), "more than the manager allows");
        assertTrue(bold.get("fenceAlone").getAsBoolean());
        assertEquals(60, bold.get("timeoutS").getAsInt(), "while it is alone");
        assertEquals(20, bold.get("sharedTimeoutS").getAsInt());
        JsonObject shy = admitted(new FenceWish(Optional.empty(), Optional.of(UnfencedPolicy.REFUSE), false, 5));
        assertEquals("refuse", shy.get("unfenced").getAsString());
        assertEquals(5, shy.get("sharedTimeoutS").getAsInt());
    }

    @Test
    void aLimitThatIsSetReachesExecutorsAndHoldsForThoseWhoComeLater() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
        InMemoryClient wrong = stepped.control(0)
                .sendRaw("{\"request\":\"limit\",\"tenant\":\"team\",\"bytes\":4096}\n".getBytes());
        stepped.step();
        assertTrue(wrong.heardText().contains("another user's is"), "the label alone is the manager's user's: " + wrong.heardText());
        InMemoryClient control = stepped.control(0)
                .sendRaw("{\"request\":\"limit\",\"tenant\":\"team of user 500\",\"bytes\":4096}\n".getBytes());
        stepped.step();
        assertEquals("{\"ok\":true}\n", control.heardText());
        JsonObject limit = executor(0).told.getLast().getAsJsonObject("limit");
        assertEquals("team of user 500", limit.get("tenant").getAsString());
        assertEquals(4096, limit.get("limitBytes").getAsLong());
        asking(43);
        assertEquals(4096, executor(0).told.getLast().getAsJsonObject("admit").get("limitBytes").getAsLong());
        InMemoryClient other = stepped.control(77)
                .sendRaw("{\"request\":\"limit\",\"tenant\":\"team\",\"bytes\":1}\n".getBytes());
        stepped.step();
        assertTrue(other.heardText().contains("\"ok\":false"), "it is not for everybody");
    }

    @Test
    void aLimitMayBeOneUsersOfThoseWhoTookALabel() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
        InMemoryClient control = stepped.control(0)
                .sendRaw("{\"request\":\"limit\",\"tenant\":\"team of user 500\",\"bytes\":4096}\n".getBytes());
        stepped.step();
        assertEquals("{\"ok\":true}\n", control.heardText());
        assertEquals("team of user 500", executor(0).told.getLast().getAsJsonObject("limit").get("tenant").getAsString());
        asking(43);
        assertEquals(4096, executor(0).told.getLast().getAsJsonObject("admit").get("limitBytes").getAsLong());
    }

    @Test
    void theTenantThatEndedAnExecutorStaysOutForAWhileAndTheOthersDoNot() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
        executor(0).says("{\"failed\":{\"reason\":\"the context is lost\",\"tenant\":\"team of user 500\"}}");
        stepped.step();
        List<String> refused = asking(43).heard();
        assertTrue(refused.getFirst().contains("ended the executor for all"), refused::toString);
        InMemoryClient other = stepped.connect(44, 501).send(p -> MessageEncoder.hello(p,
                new Hello(44, MemoryPlan.RELAY, 5, 0, "team", "train.py"))); // another user's client with the same label
        stepped.step();
        other.heard();
        other.send(p -> RelayMessageEncoder.ask(p, FenceWish.none()));
        stepped.step();
        assertEquals(List.of(), other.heard(), "the one that fails is not offered any more");
        executor(0).dies();
        stepped.step();
        stepped.clock.advanceMs(1000);
        stepped.step();
        executor(1).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), other.heard());
        stepped.clock.advanceMs(10_000);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), asking(45).heard(), "it may try again");
    }

    @Test
    void devicesOfRelayedClientsTakeNoTurns() throws Exception {
        stepped = new SteppedManager();
        InMemoryClient peer = asking(42);
        peer.device(0, SteppedManager.GPU);
        stepped.step();
        assertTrue(stepped.schedulers.isEmpty());
    }

    @Test
    void withoutADeviceTheReasonIsToldAndAskedAgainLater() throws Exception {
        stepped = new SteppedManager();
        InMemoryClient peer = asking(42);
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
    void ofSeveralDevicesEachThatWasNotToBeHadIsAskedAgainLater() throws Exception {
        stepped = new SteppedManager();
        InMemoryClient peer = asking(42);
        executor(0).ready(2);
        stepped.step();
        executor(1).says("{\"failed\":{\"reason\":\"no memory on this one\"}}");
        executor(1).dies();
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), peer.heard());
        stepped.clock.advanceMs(5000);
        stepped.step();
        InMemoryClient later = asking(43);
        assertEquals(3, stepped.launcher.started.size());
        executor(2).ready(2);
        stepped.step();
        assertEquals(List.of("relay 0 of 2 ", "relay 1 of 2 "), later.heard());
    }

    @Test
    void oneThatIsNotReadyInTimeIsEnded() throws Exception {
        stepped = new SteppedManager();
        InMemoryClient peer = asking(42);
        stepped.clock.advanceMs(31000);
        stepped.step();
        stepped.step();
        assertTrue(executor(0).stopped);
        assertEquals(1, peer.heard().size());
    }

    @Test
    void oneThatServedIsStartedAgainAtOnceHoweverOftenItDies() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        for (int death = 0; death < 8; death++) {
            for (int beat = 0; beat < 5; beat++) {
                stepped.stepAfterMs(250);
                executor(death).says("{\"beat\":{}}");
            }
            executor(death).dies();
            stepped.step();
            assertEquals(death + 2, stepped.launcher.started.size(), "started again without a pause");
            executor(death + 1).ready(1);
            stepped.step();
        }
        assertEquals(List.of("relay 0 of 1 "), asking(43).heard());
    }

    @Test
    void oneThatFailsAtOnceIsStartedAgainAfterAPauseThatGrowsAndIsSaid() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        for (int death = 0; death < 4; death++) { // 250 ms, 500 ms, 1 s
            executor(death).ready(1);
            stepped.step();
            executor(death).dies();
            executor(Math.max(0, death - 1)).dies(); // an old process does not count
            stepped.step();
            if (death == 3) {
                break;
            }
            stepped.stepAfterMs((250L << death) - 1);
            assertEquals(death + 1, stepped.launcher.started.size());
            stepped.stepAfterMs(1);
            assertEquals(death + 2, stepped.launcher.started.size());
        }
        InMemoryClient waiting = asking(43);
        String told = String.join("", waiting.heard());
        assertTrue(told.startsWith("relay 0 of -1 it ended with code 1 (4 times in a row it failed as soon as it was started"), told);
        assertTrue(status().contains("it is started again 2 s later"), this::status);
        stepped.stepAfterMs(2000);
        executor(4).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), waiting.heard());
    }

    private String status() {
        try {
            InMemoryClient control = stepped.control(0).sendRaw("{\"request\":\"status\"}\n".getBytes());
            stepped.step();
            return control.heardText();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void nobodyIsSentToOneThatSaysItCannotGoOn() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        stepped.step();
        executor(0).says("{\"failed\":{\"reason\":\"the context is lost\"}}");
        stepped.step();
        InMemoryClient waiting = asking(43);
        assertEquals(List.of(), waiting.heard(), "it tells its clients and ends");
        executor(0).dies();
        stepped.step();
        stepped.clock.advanceMs(1000);
        stepped.step();
        executor(1).ready(1);
        stepped.step();
        assertEquals(List.of("relay 0 of 1 "), waiting.heard());
    }

    @Test
    void statusShowsThemAndTheManagersEndLetsThemGo() throws Exception {
        stepped = new SteppedManager();
        asking(42);
        executor(0).ready(1);
        executor(0).says("{\"stats\":{\"clients\":[{\"client\":1,\"usedBytes\":77,\"calls\":5,\"launches\":6,"
                + "\"records\":11,\"rejected\":0}]}}");
        stepped.step();
        InMemoryClient control = stepped.control(0).sendRaw("{\"request\":\"status\"}\n".getBytes());
        stepped.step();
        String status = control.heardText();
        assertTrue(status.contains("\"executors\":[{\"ordinal\":0,\"state\":\"ready\","), status);
        assertTrue(status.contains("\"pid\":900,\"usedBytes\":77,\"restarts\":0"), status);
        assertTrue(status.contains("\"plan\":\"relay\""), status);
        assertFalse(executor(0).stopped);
        stepped.close();
        assertTrue(executor(0).parted);
        assertFalse(executor(0).stopped);
    }

    @Test
    void noneAreStartedIfNoneAreWanted() throws Exception {
        stepped = new SteppedManager(0, context -> context.withExecutors(ExecutorKind.NONE, SoftwareDevices.STANDARD));
        InMemoryClient peer = asking(42);
        assertTrue(peer.heard().getFirst().startsWith("relay 0 of 0 this manager starts no executors"));
        assertTrue(stepped.launcher.started.isEmpty());
    }
}
