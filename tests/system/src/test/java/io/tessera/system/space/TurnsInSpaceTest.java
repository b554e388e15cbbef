package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Weights, caps and priorities in space sharing, with manager, executor and programs together, and kernels of some milliseconds. */
@ExtendWith(RunWatcher.class)
class TurnsInSpaceTest {
    private static final Duration BOUND = Duration.ofSeconds(120);
    private static final String KERNEL_US = "2000";
    /** Number of launches of both tenants together from which a ratio is computed. */
    private static final long LAUNCHES = 400;
    private static final int MOST_LOOKS = 5;

    private static RunningProgram flood(TestRun run, String tenant) {
        return run.program("relay_flood", KERNEL_US).env("TESSERA_SHARE", "space").tenant(tenant).start().awaitLine("ready");
    }

    private static void end(RunningProgram program) {
        program.tell("");
        program.end(BOUND).exits(0);
    }

    private static JsonObject executor(ManagerProcess manager) {
        return manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    private static JsonObject client(JsonObject executor, String tenant) {
        for (JsonElement client : executor.getAsJsonArray("clients")) {
            if (client.getAsJsonObject().get("tenant").getAsString().equals(tenant)) {
                return client.getAsJsonObject();
            }
        }
        return new JsonObject();
    }

    private static long of(JsonObject executor, String tenant, String field) {
        JsonObject client = client(executor, tenant);
        return client.has(field) ? client.get(field).getAsLong() : 0;
    }

    private static void set(ManagerProcess manager, String tenant, String terms, boolean ahead) {
        JsonObject answer = manager.control()
                .okay("{\"request\":\"tenant\",\"tenant\":\"" + tenant + "\",\"ahead\":" + ahead + ",\"set\":{" + terms + "}}");
        assertFalse(answer.has("notKept"), answer::toString);
        assertEquals(0, answer.getAsJsonArray("unused").size(), answer::toString);
    }

    /** Returns the ratio of two tenants' launches from now on, after launches from before a change have ended. */
    private static double ratio(ManagerProcess manager, String one, String other) throws InterruptedException {
        Thread.sleep(1_500);
        JsonObject before = executor(manager);
        JsonObject[] after = {before};
        Await.until("launches of " + one + " and " + other, BOUND, () -> {
            after[0] = executor(manager);
            return grown(before, after[0], one) + grown(before, after[0], other) >= LAUNCHES;
        }, () -> after[0].toString());
        System.out.println(one + " launched " + grown(before, after[0], one) + ", " + other + " " + grown(before, after[0], other));
        return (double) grown(before, after[0], one) / Math.max(1, grown(before, after[0], other));
    }

    /**
     * Checks that the ratio comes between two bounds. On an overloaded machine, a program may launch less than its share, so the ratio is measured
     * repeatedly.
     */
    private static void comesBetween(double low, double high, ManagerProcess manager, String one, String other) throws InterruptedException {
        double ratio = ratio(manager, one, other);
        for (int i = 1; i < MOST_LOOKS && (ratio <= low || ratio >= high); i++) {
            ratio = ratio(manager, one, other);
        }
        assertTrue(ratio > low && ratio < high, ratio + " launches of " + one + " for each of " + other + ", not between " + low + " and " + high);
    }

    private static long grown(JsonObject before, JsonObject after, String tenant) {
        return of(after, tenant, "launches") - of(before, tenant, "launches");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvidia", "software"})
    void weightsAreKeptAndChangeWhileProgramsRun(String executors, TestRun run) throws Exception {
        ManagerProcess manager = run.manager("--executors", executors);
        set(manager, "heavy", "\"weight\":3", true);
        RunningProgram heavy = flood(run, "heavy");
        RunningProgram light = flood(run, "light");
        comesBetween(1.5, 6, manager, "heavy", "light");
        JsonObject executor = executor(manager);
        assertTrue(executor.getAsJsonObject("turns").get("now").getAsBoolean(), executor::toString);
        assertEquals(3, client(executor, "heavy").getAsJsonObject("terms").get("weight").getAsInt(), executor::toString);
        assertTrue(of(executor, "heavy", "heldNs") > of(executor, "light", "heldNs"), executor::toString);
        assertTrue(of(executor, "light", "waitedNs") > 0, executor::toString);
        set(manager, "light", "\"weight\":9", false);
        comesBetween(0.15, 0.7, manager, "heavy", "light");
        set(manager, "heavy", "\"weight\":9", false);
        Await.until("nothing is held back", BOUND, () -> !executor(manager).getAsJsonObject("turns").get("now").getAsBoolean(),
                () -> executor(manager).toString());
        end(heavy);
        end(light);
    }

    @Test
    void aHardCapHolds(TestRun run) throws Exception {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        RunningProgram free = flood(run, "free");
        RunningProgram capped = flood(run, "capped");
        set(manager, "capped", "\"hardCap\":0.1", false);
        comesBetween(0, 0.25, manager, "capped", "free");
        end(capped);
        end(free);
    }

    @Test
    void theHigherPriorityGoesFirst(TestRun run) throws Exception {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        manager.control().okay("{\"request\":\"policy\",\"policy\":\"priority\"}");
        RunningProgram low = flood(run, "low");
        RunningProgram high = flood(run, "high");
        set(manager, "high", "\"priority\":5", false);
        comesBetween(2, Double.POSITIVE_INFINITY, manager, "high", "low");
        end(high);
        end(low);
    }
}
