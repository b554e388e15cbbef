package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SimulatedSwapClient;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.segment.ResidencyBlock;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of plan swap under a whole manager, step by step: residency, turns and invariants. */
@Timeout(180)
class ResidencyStepTest extends ResidencyScenario {
    /** Host memory that two clients may hold in steps that are used in part. */
    private static final long BETWEEN = 512L << 20;

    @Test
    void aClientAloneHasItsMemoryAtOnce() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient alone = client(1, "a", 38 * GIB);
        until("it works", () -> alone.worked > 10);
        assertEquals("free", device().get("effective").getAsString());
        assertEquals(38 * GIB, residency(0).get("residentBytes").getAsLong());
        assertTrue(device().getAsJsonObject("memory").get("fits").getAsBoolean());
    }

    @Test
    void whoFitsRunsFreely() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient one = client(1, "a", 18 * GIB);
        SimulatedSwapClient other = client(2, "b", 18 * GIB);
        until("both work", () -> one.isOpen() && other.isOpen() && one.worked > 100 && other.worked > 100);
        assertTrue(status().getAsJsonObject("host").get("pinnedBudgetBytes").getAsLong() > 0);
        assertEquals(18 * GIB, one.words().pinnedTarget());
    }

    @Test
    void threeThatEachNeedAlmostAllTakeTurns() throws Exception {
        start(context -> context.withResidency(context.residency().withMoveShare(0.5)));
        for (int i = 1; i <= 3; i++) {
            client(i, "t" + i, CAPACITY * 96 / 100);
        }
        until("each has had two turns", () -> clients.stream().allMatch(c -> c.peer.block(0).turn() >> 8 >= 4
                && c.worked > 20));
        for (int i = 0; i < 300; i++) {
            assertTrue(clients.stream().filter(SimulatedSwapClient::isOpen).count() <= 1, "one at a time");
            step();
        }
        JsonObject device = device();
        assertEquals("exclusive", device.get("effective").getAsString());
        assertTrue(device.get("reason").getAsString().contains("memory is short"), device.get("reason").getAsString());
        assertTrue(device.get("quantumNs").getAsLong() > 1_000_000_000L, "moving 38 GiB is paid by long turns");
        assertTrue(device.get("handoverMedianNs").getAsLong() > 0);
    }

    @Test
    void turnsBeginWhenMemoryIsBack() throws Exception {
        start(context -> context.withSchedule(context.schedule().withQuantumNs(100_000_000L)));
        SimulatedSwapClient one = client(1, "a", 39 * GIB);
        SimulatedSwapClient other = client(2, "b", 39 * GIB);
        until("the other has worked", () -> one.worked > 0 && other.worked > 0);
        int before = other.worked;
        until("the other's turn is over", () -> !other.isOpen());
        assertTrue(other.worked - before >= 0);
        until("its next turn", other::isOpen);
        int atBegin = other.worked;
        until("its next turn is over", () -> !other.isOpen());
        assertTrue(other.worked - atBegin >= 15, "a quantum of 100 ms has 20 steps, it had " + (other.worked - atBegin));
    }

    /** Turns of a client whose memory cannot leave do not help: the other one is told after its first turn, not after several. */
    @Test
    void whereTheHostIsFullTheFirstTurnThatComesToNothingIsTheLast() throws Exception {
        start(context -> context.withSchedule(context.schedule().withQuantumNs(20_000_000_000L)));
        stepped.host.availableBytes = 0;
        SimulatedSwapClient one = client(1, "a", 39 * GIB);
        until("the first works", () -> one.worked > 0);
        one.keeps = true;
        SimulatedSwapClient other = client(2, "b", 39 * GIB);
        until("the other's turn", () -> !one.isOpen());
        long beganNs = stepped.clock.nowNs();
        until("the other is out of memory", () -> (other.words().flags() & ResidencyBlock.FLAG_SHORT) != 0);
        assertTrue(stepped.clock.nowNs() - beganNs <= 10_000_000_000L, (stepped.clock.nowNs() - beganNs) / 1_000_000 + " ms");
        String why = residency(1).get("shortOf").getAsString();
        assertTrue(why.contains("has no host memory left for it"), why);
        until("the first works on", one::isOpen);
    }

    @Test
    void whoThinksGivesItsMemoryToWhoWorks() throws Exception {
        start(UnaryOperator.identity());
        List<SimulatedSwapClient> notebooks = new ArrayList<>();
        for (int i = 1; i <= 8; i++) {
            SimulatedSwapClient notebook = client(i, "n" + i, CAPACITY * 4 / 10);
            notebook.busy = false;
            notebooks.add(notebook);
        }
        for (SimulatedSwapClient notebook : notebooks) {
            int before = notebook.worked;
            notebook.busy = true;
            until("a cell runs", () -> notebook.worked > before + 5);
            notebook.busy = false;
            for (int i = 0; i < 300; i++) {
                step();
            }
        }
        assertEquals("free", device().get("effective").getAsString());
        SimulatedSwapClient first = notebooks.getFirst();
        assertEquals(0, first.words().residentBytes(), "the first one's memory went to those after it");
        first.busy = true;
        int before = first.worked;
        until("its next cell runs", () -> first.worked > before);
    }

    /** Returns three notebooks of which two fit: the first two are active, the third has just made a call. */
    private List<SimulatedSwapClient> aThirdComes() throws Exception {
        start(UnaryOperator.identity());
        List<SimulatedSwapClient> notebooks = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            SimulatedSwapClient notebook = client(i, "n" + i, CAPACITY * 4 / 10);
            notebooks.add(notebook);
            until("it had memory once", () -> notebook.worked > 0);
            notebook.busy = false;
            for (int pause = 0; pause < 400; pause++) {
                step();
            }
        }
        for (SimulatedSwapClient notebook : notebooks.subList(0, 2)) {
            int before = notebook.worked;
            notebook.busy = true;
            until("it works", () -> notebook.worked > before + 10);
        }
        assertEquals(CAPACITY / 5, notebooks.get(2).words().residentBytes(), "some of the third one's memory served the others");
        notebooks.get(2).busy = true;
        return notebooks;
    }

    @Test
    void whoComesWaitsForWhoIsAboutToPause() throws Exception {
        List<SimulatedSwapClient> notebooks = aThirdComes();
        int before = notebooks.get(1).worked;
        for (int i = 0; i < 20; i++) {
            step();
            assertEquals("free", device().get("effective").getAsString());
        }
        assertEquals(before + 20, notebooks.get(1).worked, "nobody is stopped for it");
        notebooks.getFirst().busy = false;
        int third = notebooks.get(2).worked;
        long pausedNs = stepped.clock.nowNs();
        until("it has the place of the client that paused", () -> notebooks.get(2).worked > third);
        assertTrue(stepped.clock.nowNs() - pausedNs < 1_000_000_000L, "before a second is over");
        assertEquals("free", device().get("effective").getAsString());
        assertTrue(notebooks.get(1).worked > before + 40, "the other one went on");
    }

    @Test
    void whoWaitsForRoomMayDie() throws Exception {
        List<SimulatedSwapClient> notebooks = aThirdComes();
        step();
        SimulatedSwapClient third = notebooks.get(2);
        third.peer.die();
        clients.remove(third);
        int before = notebooks.getFirst().worked;
        for (int i = 0; i < 300; i++) {
            step();
        }
        // A trial of turns, which two active clients get at some time, takes 100 ms of this 1.5 s.
        assertTrue(notebooks.getFirst().worked >= before + 270, "nobody is stopped for it");
        assertTrue(device().getAsJsonObject("memory").get("fits").getAsBoolean());
    }

    @Test
    void turnsBeginWhenNobodyPauses() throws Exception {
        List<SimulatedSwapClient> notebooks = aThirdComes();
        int before = notebooks.get(2).worked;
        until("it has a turn", () -> notebooks.get(2).worked > before);
        assertEquals("exclusive", device().get("effective").getAsString());
    }

    @Test
    void aHolderThatDiesInTheMiddleOfAMoveLeavesEverythingToTheNext() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient one = client(1, "a", 38 * GIB);
        until("it works", () -> one.worked > 3);
        SimulatedSwapClient other = client(2, "b", 38 * GIB);
        until("the hand-over is half done", () -> one.words().residentBytes() < 20 * GIB);
        one.peer.die();
        clients.remove(one);
        until("the other works", () -> other.worked > 3);
    }

    @Test
    void evictedByHandAndBackWithTheFirstCall() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient idle = client(1, "idle", 10 * GIB);
        until("it works", () -> idle.worked > 3);
        idle.busy = false;
        assertEquals("{\"ok\":true,\"clients\":1}\n", say("{\"request\":\"evict\",\"tenant\":\"idle\"}"));
        until("it is out", () -> idle.words().residentBytes() == 0);
        assertEquals(ResidencyBlock.FLAG_PARKED, idle.words().flags());
        assertTrue(residency(0).get("parked").getAsBoolean());
        for (int i = 0; i < 500; i++) {
            step();
        }
        assertEquals(0, idle.words().residentBytes(), "it stays out until it asks");
        idle.busy = true;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
        assertEquals(0, idle.words().flags());
    }

    @Test
    void whoIsEvictedWhileItWorksLeavesFirst() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient busy = client(1, "busy", 10 * GIB);
        until("it works", () -> busy.worked > 3);
        say("{\"request\":\"evict\",\"tenant\":\"busy\"}");
        int before = busy.worked;
        until("it is out", () -> busy.words().residentBytes() == 0);
        assertEquals(before, busy.worked, "it has not worked meanwhile");
        until("it works again", () -> busy.worked > before);
    }

    @Test
    void restoredByHand() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient idle = client(1, "idle", 10 * GIB);
        until("it works", () -> idle.worked > 3);
        idle.busy = false;
        say("{\"request\":\"evict\",\"tenant\":\"idle\"}");
        until("it is out", () -> idle.words().residentBytes() == 0);
        assertEquals("{\"ok\":true,\"clients\":1}\n", say("{\"request\":\"restore\",\"tenant\":\"idle\"}"));
        until("it is back", () -> idle.words().residentBytes() == 10 * GIB && idle.isOpen());
        assertEquals("{\"ok\":true,\"clients\":0}\n", say("{\"request\":\"restore\",\"tenant\":\"idle\"}"));
    }

    @Test
    void suspendedWithItsContextAndBackWithTheFirstCall() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient idle = client(42, "idle", 10 * GIB);
        until("it works", () -> idle.worked > 3);
        idle.busy = false;
        say("{\"request\":\"evict\",\"tenant\":\"idle\",\"suspend\":true}");
        until("it is out", () -> idle.words().residentBytes() == 0);
        until("the driver is asked", () -> stepped.checkpoints.begun.equals(List.of("SUSPEND 42")));
        assertEquals("suspending", residency(0).get("state").getAsString());
        stepped.checkpoints.end(Optional.empty(), stepped.clock.nowNs());
        assertEquals(ResidencyBlock.FLAG_PARKED | ResidencyBlock.FLAG_CHECKPOINTED, idle.words().flags());
        assertEquals("suspended", residency(0).get("state").getAsString());
        assertEquals(List.of(42), stepped.checkpoints.remembered);
        idle.busy = true;
        int before = idle.worked;
        until("it is restored", () -> stepped.checkpoints.begun.contains("RESTORE 42"));
        for (int i = 0; i < 20; i++) {
            step();
        }
        assertEquals(before, idle.worked, "not before the driver has brought it back");
        assertEquals("restoring", residency(0).get("state").getAsString());
        stepped.checkpoints.end(Optional.of("no memory"), stepped.clock.nowNs());
        until("it is tried again", () -> stepped.checkpoints.begun.size() == 3);
        stepped.checkpoints.end(Optional.empty(), stepped.clock.nowNs());
        until("it works again", () -> idle.worked > before);
        assertEquals(0, idle.words().flags());
        assertEquals(List.of(), stepped.checkpoints.remembered);
    }

    @Test
    void whoCannotBeSuspendedIsOnlyEvicted() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient idle = client(42, "idle", 10 * GIB);
        until("it works", () -> idle.worked > 3);
        idle.busy = false;
        say("{\"request\":\"evict\",\"tenant\":\"idle\",\"suspend\":true}");
        until("the driver is asked", () -> !stepped.checkpoints.begun.isEmpty());
        stepped.checkpoints.end(Optional.of("exit code 3"), stepped.clock.nowNs());
        assertEquals(ResidencyBlock.FLAG_PARKED, idle.words().flags());
        idle.busy = true;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
    }

    @Test
    void whoIsIdleForLongLeaves() throws Exception {
        start(context -> context.withResidency(context.residency().withIdleEvictNs(3_000_000_000L)));
        SimulatedSwapClient idle = client(1, "idle", 10 * GIB);
        until("it works", () -> idle.worked > 3);
        idle.busy = false;
        until("it is out", () -> idle.words().residentBytes() == 0);
        idle.busy = true;
        int before = idle.worked;
        until("it works again", () -> idle.worked > before);
    }

    @Test
    void whatIsGuaranteedStays() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient guaranteed = client(1, "g", 20 * GIB);
        guaranteed.words().guaranteeWanted(8 * GIB);
        until("it works", () -> guaranteed.worked > 3);
        guaranteed.busy = false;
        SimulatedSwapClient other = client(2, "b", 30 * GIB);
        until("the other works", () -> other.worked > 400);
        assertEquals(8 * GIB, guaranteed.words().guaranteeBytes());
        assertTrue(guaranteed.words().residentBytes() >= 8 * GIB);
        assertEquals("free", device().get("effective").getAsString());
    }

    @Test
    void plainMemoryLeavesLessForTheOthers() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient plain = new SimulatedSwapClient(stepped.client(7, "plain", 0), 0); // of plan plain: it only answers turns
        plain.busy = false;
        plain.peer.block(0).usedBytes(12 * GIB);
        clients.add(plain);
        SimulatedSwapClient one = client(1, "a", 20 * GIB);
        SimulatedSwapClient other = client(2, "b", 20 * GIB);
        until("both have worked", () -> one.worked > 3 && other.worked > 3);
        assertEquals(28 * GIB, one.words().residentLimit());
        assertTrue(one.words().residentBytes() + other.words().residentBytes() <= 28 * GIB);
        assertEquals("exclusive", device().get("effective").getAsString());
        assertEquals(12 * GIB, device().getAsJsonObject("memory").get("fixedBytes").getAsLong());
    }

    @Test
    void wrongRequests() throws Exception {
        start(UnaryOperator.identity());
        assertTrue(say("{\"request\":\"evict\",\"tenant\":\"nobody\"}").contains("no client of tenant"));
        stepped.client(7, "plain", 0);
        assertTrue(say("{\"request\":\"evict\",\"tenant\":\"plain\"}").contains("plan swap"));
        assertTrue(say("{\"request\":\"restore\"}").contains("must be a text"));
        for (int uid : new int[] {1001, 500}) { // another user, and its own user
            InMemoryClient user = stepped.control(uid);
            user.sendRaw("{\"request\":\"evict\",\"tenant\":\"plain\"}\n".getBytes(StandardCharsets.UTF_8));
            stepped.step();
            assertTrue(user.heardText().contains(uid == 500 ? "plan swap" : "no program of yours"), user::heardText);
        }
        assertFalse(device().has("memory"), "nothing is planned for plan plain alone");
    }

    @Test
    void aHostWithoutFreeMemoryGivesNone() throws Exception {
        start(UnaryOperator.identity());
        stepped.host.availableBytes = 1 << 20;
        SimulatedSwapClient one = client(1, "a", 10 * GIB);
        until("it works", () -> one.worked > 10);
        assertEquals(0, one.words().pinnedTarget());
        assertTrue(status().getAsJsonObject("host").get("reason").getAsString().contains("no client gets more"));
    }

    private static List<String> leases(SimulatedSwapClient client) {
        return client.peer.heard().stream().filter(word -> word.startsWith("lease") || word.startsWith("trim"))
                .toList();
    }

    private void ask(SimulatedSwapClient client, long bytes) throws Exception {
        client.peer.send(p -> MessageEncoder.quotaAsk(p, 0, bytes));
        stepped.step();
    }

    private void giveBack(SimulatedSwapClient client, long bytes) throws Exception {
        client.peer.block(0).grantedBytes(bytes);
        client.peer.send(p -> MessageEncoder.quotaReturn(p, 0, bytes));
        stepped.step();
    }

    @Test
    void leasesNeverExceedWhatDeviceAndHostHold() throws Exception {
        start(context -> context.withResidency(
                context.residency().withPinnedBytes(20 * GIB + BETWEEN).withPageableBytes(0)));
        SimulatedSwapClient one = client(1, "a", 0);
        List<String> first = leases(one);
        assertEquals("trim 0", first.getLast(), "what the pool holds was not known before: " + first);
        assertEquals("lease 0 " + 64 * GIB, first.getFirst(), "never without bounds");
        giveBack(one, 10 * GIB);
        ask(one, 20 * GIB);
        assertEquals(List.of("lease 0 " + (60 * GIB + BETWEEN / 2)), leases(one), "alone it gets all");
        SimulatedSwapClient other = client(2, "b", 0);
        assertEquals(List.of("lease 0 0"), leases(other));
        ask(other, 30 * GIB);
        assertEquals(List.of("trim 0"), leases(one));
        giveBack(one, 40 * GIB);
        assertEquals(List.of(), leases(other), "20 GiB are left: it waits for more");
        stepped.stepAfterMs(500);
        giveBack(one, 40 * GIB);
        assertEquals(List.of(), leases(other));
        stepped.stepAfterMs(300);
        giveBack(one, 40 * GIB);
        stepped.stepAfterMs(300);
        giveBack(one, 40 * GIB);
        stepped.stepAfterMs(300);
        assertEquals(List.of("lease 0 0"), leases(other), "then it is told that there is no room");
        ask(other, 20 * GIB);
        giveBack(one, 40 * GIB);
        assertTrue(leases(other).contains("lease 0 " + 20 * GIB));
    }

    @Test
    void whoWaitsForRoomGetsWhatIsFreedMeanwhile() throws Exception {
        start(context -> context.withResidency(
                context.residency().withPinnedBytes(20 * GIB + BETWEEN).withPageableBytes(0)));
        SimulatedSwapClient one = client(1, "a", 0);
        giveBack(one, 50 * GIB);
        SimulatedSwapClient other = client(2, "b", 0);
        leases(other);
        ask(other, 30 * GIB);
        giveBack(one, 50 * GIB);
        stepped.stepAfterMs(200);
        giveBack(one, 30 * GIB);
        stepped.stepAfterMs(200);
        assertEquals(List.of("lease 0 " + 30 * GIB), leases(other));
    }
}
