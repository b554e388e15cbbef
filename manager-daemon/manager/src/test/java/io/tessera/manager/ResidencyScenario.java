package io.tessera.manager;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import io.tessera.manager.memory.InMemoryClient;
import io.tessera.manager.memory.SimulatedSwapClient;
import io.tessera.manager.memory.SteppedManager;
import io.tessera.manager.schedule.DeviceScheduler;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.protocol.MemoryPlan;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;

/** A whole manager with clients of plan swap, stepped by hand on a device of 64 GiB, and the invariants of that. */
abstract class ResidencyScenario {
    static final long GIB = 1L << 30;
    /** Capacity for memory that moves; the device has 64 GiB. */
    static final long CAPACITY = 40 * GIB;
    private static final long STEP_MS = 5;

    SteppedManager stepped;
    /** The part of the capacity that others hold and keep. */
    long othersBytes;
    final List<SimulatedSwapClient> clients = new ArrayList<>();

    void start(UnaryOperator<ManagerContext> settings) throws Exception {
        UnaryOperator<ManagerContext> sized = context -> settings.apply(context.withCapacityBytes(CAPACITY));
        ScheduleSettings schedule = ScheduleSettings.defaults().withCapacityBytes(CAPACITY);
        stepped = new SteppedManager(0, sized,
                (totalBytes, port, nowNs) -> new DeviceScheduler(schedule.withTotalBytes(totalBytes), port, nowNs));
    }

    @AfterEach
    void end() {
        if (stepped != null) {
            stepped.close();
        }
    }

    SimulatedSwapClient client(int pid, String tenant, long bytes) throws Exception {
        InMemoryClient peer = stepped.connect(pid, 500).hello(tenant, 0, MemoryPlan.SWAP).device(0, SteppedManager.GPU);
        stepped.step();
        SimulatedSwapClient client = new SimulatedSwapClient(peer, bytes);
        clients.add(client);
        return client;
    }

    /** Steps all parts once; what is held may never exceed the capacity, and two clients that do not fit may never work together. */
    void step() throws Exception {
        for (SimulatedSwapClient client : clients) {
            client.step(stepped.clock.nowNs());
            assertWithinBudget();
            stepped.step();
        }
        stepped.stepAfterMs(STEP_MS);
        assertWithinBudget();
    }

    private void assertWithinBudget() {
        long occupied = 0;
        for (SimulatedSwapClient client : clients) {
            occupied += Math.max(client.frozen ? 0 : client.words().residentBytes(), client.words().residentTarget());
        }
        assertTrue(occupied <= CAPACITY - othersBytes, "held or promised: " + occupied / GIB + " GiB");
    }

    void until(String what, BooleanSupplier condition) throws Exception {
        for (int i = 0; i < 20_000; i++) {
            if (condition.getAsBoolean()) {
                return;
            }
            step();
        }
        throw new AssertionError("not within 100 s of simulated time: " + what + "; " + status());
    }

    String say(String request) throws Exception {
        InMemoryClient control = stepped.control(0);
        control.sendRaw((request + "\n").getBytes(StandardCharsets.UTF_8));
        stepped.step();
        return control.heardText();
    }

    JsonObject status() throws Exception {
        return JsonParser.parseString(say("{\"request\":\"status\"}")).getAsJsonObject();
    }

    JsonObject residency(int client) throws Exception {
        return status().getAsJsonArray("clients").get(client).getAsJsonObject().getAsJsonArray("devices").get(0)
                .getAsJsonObject().getAsJsonObject("residency");
    }

    JsonObject device() throws Exception {
        return status().getAsJsonArray("devices").get(0).getAsJsonObject();
    }
}
