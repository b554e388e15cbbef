package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.manager.executors.ExecutorKind;
import io.tessera.manager.executors.SoftwareDevices;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.RecordingLauncher;
import io.tessera.manager.memory.SimulatedSwapClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.RelayMessageEncoder;
import io.tessera.protocol.segment.ResidencyBlock;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients of plan swap beside memory of other plans, and plan auto. */
@Timeout(180)
class PlansMixedStepTest extends ResidencyScenario {
    private RecordingLauncher.Started executor;

    /** Starts a client that shares in space, and so the executor on the same device. */
    private void executor() throws Exception {
        stepped.connect(90, 500).hello("space", 0, MemoryPlan.RELAY)
                .send(to -> RelayMessageEncoder.ask(to, FenceWish.none()));
        stepped.step();
        executor = stepped.launcher.started.getFirst();
        executor.says("{\"ready\":{\"uuid\":\"" + SteppedManager.GPU + "\",\"name\":\"G\",\"ordinal\":0,\"count\":1,"
                + "\"software\":false,\"socket\":\"s\",\"totalBytes\":" + 64 * GIB + "}}");
        stepped.step();
    }

    @Override
    void step() throws Exception {
        if (executor != null) {
            executor.says("{\"beat\":{}}");
        }
        super.step();
    }

    private void executorHolds(long usedBytes, long committedBytes, long sinkBytes) throws Exception {
        executor.says("{\"stats\":{\"clients\":[{\"client\":1,\"usedBytes\":" + usedBytes + ",\"calls\":1,\"launches\":1,"
                + "\"records\":1,\"rejected\":0}],\"windows\":[{\"tenant\":\"space\",\"base\":0,\"size\":" + 64 * GIB
                + ",\"committedBytes\":" + committedBytes + ",\"quotaBytes\":0,\"sinkBytes\":" + sinkBytes + "}]}}");
        stepped.step();
    }

    private JsonObject memory() throws Exception {
        return device().getAsJsonObject("memory");
    }

    @Test
    void whatAnExecutorHoldsIsNotThereForOthers() throws Exception {
        start(context -> context.withExecutors(ExecutorKind.NVIDIA, SoftwareDevices.STANDARD));
        executor();
        SimulatedSwapClient one = client(1, "a", 18 * GIB);
        SimulatedSwapClient other = client(2, "b", 18 * GIB);
        until("both work side by side", () -> one.isOpen() && other.isOpen() && one.worked > 10 && other.worked > 10);
        assertEquals(0, memory().get("executorBytes").getAsLong());
        executorHolds(9 * GIB, 10 * GIB, 2 * GIB);
        until("they have made room", () -> one.words().residentBytes() + other.words().residentBytes() <= 28 * GIB);
        othersBytes = 12 * GIB;
        int before = Math.min(one.worked, other.worked);
        until("both work in turns", () -> one.worked > before + 10 && other.worked > before + 10);
        assertEquals(28 * GIB, one.words().residentLimit());
        assertEquals(12 * GIB, memory().get("executorBytes").getAsLong());
        assertEquals(12 * GIB, memory().get("fixedBytes").getAsLong());
        assertEquals("exclusive", device().get("effective").getAsString());
        executor.dies();
        executor = null;
        stepped.step();
        othersBytes = 0;
        until("they run freely again", () -> one.isOpen() && other.isOpen());
        assertEquals(0, memory().get("executorBytes").getAsLong());
    }

    @Test
    void anExecutorThatSaysNothingOfWindowsCountsWithWhatItsClientsUse() throws Exception {
        start(context -> context.withExecutors(ExecutorKind.NVIDIA, SoftwareDevices.STANDARD));
        executor();
        SimulatedSwapClient one = client(1, "a", 18 * GIB);
        executorHolds(5 * GIB, 0, 0);
        until("it works", () -> one.worked > 3);
        assertEquals(35 * GIB, one.words().residentLimit());
    }

    /** Plain, managed, executors' and swapped memory on one device. */
    @Test
    void allPlansTogether() throws Exception {
        start(context -> context.withExecutors(ExecutorKind.NVIDIA, SoftwareDevices.STANDARD));
        executor();
        executorHolds(0, 6 * GIB, 0);
        SimulatedSwapClient plain = new SimulatedSwapClient(stepped.client(7, "plain", 0), 0);
        plain.peer.block(0).usedBytes(4 * GIB);
        InMemoryClient paged = stepped.connect(8, 500).hello("managed", 0, MemoryPlan.MANAGED).device(0, SteppedManager.GPU);
        stepped.step();
        SimulatedSwapClient managed = new SimulatedSwapClient(paged, 0);
        managed.peer.block(0).usedBytes(20 * GIB);
        managed.peer.block(0).managedBytes(20 * GIB);
        clients.add(plain);
        clients.add(managed);
        SimulatedSwapClient one = client(1, "a", 16 * GIB);
        SimulatedSwapClient other = client(2, "b", 16 * GIB);
        othersBytes = 10 * GIB;
        until("everybody works", () -> clients.stream().allMatch(client -> client.worked > 20));
        assertEquals(30 * GIB, one.words().residentLimit());
        assertEquals(10 * GIB, memory().get("fixedBytes").getAsLong());
        assertTrue(device().get("reason").getAsString().contains("memory is short"), device()::toString);
        assertEquals(16 * GIB, other.words().swappableBytes());
    }

    private SimulatedSwapClient automatic(int pid, String tenant, long bytes, long overflowBytes) throws Exception {
        SimulatedSwapClient client = client(pid, tenant, bytes);
        client.words().planChoice(ResidencyBlock.CHOICE_AUTO);
        client.peer.block(0).managedBytes(overflowBytes);
        client.peer.block(0).usedBytes(bytes + overflowBytes);
        return client;
    }

    @Test
    void whatOverflowsUnderAutoIsGivenRoomAsManagedMemoryIs() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient idle = client(1, "idle", 20 * GIB);
        until("it works", () -> idle.worked > 3);
        idle.busy = false;
        SimulatedSwapClient large = automatic(2, "large", 30 * GIB, 25 * GIB);
        until("it works", () -> large.worked > 300);
        assertEquals("swap, and managed for 25.00 GiB beyond what the device can hold at once",
                residency(1).get("choice").getAsString());
        assertEquals(0, idle.words().residentBytes(), "pages of the one that works are worth more");
        assertEquals(40 * GIB, large.words().residentTarget());
        assertEquals("free", device().get("effective").getAsString());
        int before = idle.worked;
        idle.busy = true;
        until("turns for what has to be resident", () -> idle.worked > before + 10);
        assertFalse(residency(0).has("choice"), "its plan was set");
    }

    @Test
    void autoSaysWhatItCameTo() throws Exception {
        start(UnaryOperator.identity());
        SimulatedSwapClient client = automatic(1, "a", 10 * GIB, 0);
        until("it works", () -> client.worked > 3);
        assertTrue(residency(0).get("choice").getAsString().startsWith("swap: "), residency(0)::toString);
        client.words().planChoice(ResidencyBlock.CHOICE_AUTO | ResidencyBlock.CHOICE_EXPORTED);
        assertTrue(residency(0).get("choice").getAsString().startsWith("plain from now on: "), residency(0)::toString);
        client.words().planChoice(ResidencyBlock.CHOICE_AUTO | ResidencyBlock.CHOICE_UNMAPPED);
        assertTrue(residency(0).get("choice").getAsString().startsWith("managed: "), residency(0)::toString);
        client.words().planChoice(ResidencyBlock.CHOICE_AUTO | ResidencyBlock.CHOICE_UNMAPPED
                | ResidencyBlock.CHOICE_UNPAGED);
        assertTrue(residency(0).get("choice").getAsString().startsWith("plain: "), residency(0)::toString);
    }
}
