package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.TestFolders;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Long grids of programs in space sharing are launched in parts: every block runs once, and others need not wait for the whole grid. */
@ExtendWith(RunWatcher.class)
class GridPartsInSpaceTest {
    private static final Map<String, String> IN_PARTS = Map.of("TESSERA_EXECUTOR_JAVA",
            TestFolders.EXECUTOR_JAVA + " -Dtessera.executor.gridParts=true");
    private static final Duration BOUND = Duration.ofSeconds(120);

    private static long of(ManagerProcess manager, String tenant, String field) {
        JsonObject executor = manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
        for (JsonElement client : executor.getAsJsonArray("clients")) {
            JsonObject object = client.getAsJsonObject();
            if (object.get("tenant").getAsString().equals(tenant) && object.has(field)) {
                return object.get(field).getAsLong();
            }
        }
        return 0;
    }

    private static RunningProgram grids(TestRun run, String tenant, int us) {
        return run.program("relay_grid", Integer.toString(us)).env("TESSERA_SHARE", "space").tenant(tenant).start().awaitLine("ready");
    }

    /** Starts a tenant that always has a little work, since queued work is bounded if there are other tenants. */
    private static RunningProgram other(TestRun run) {
        return run.program("relay_flood", "200").env("TESSERA_SHARE", "space").tenant("other").start().awaitLine("ready");
    }

    private static void end(RunningProgram program) {
        program.tell("");
        program.end(BOUND).exits(0);
    }

    /** The first launches are made as a whole, because it is not known yet that they take long. */
    @Test
    void everyBlockRunsOnceInParts(TestRun run) {
        ManagerProcess manager = run.manager(IN_PARTS, "--executors", "software");
        RunningProgram other = other(run);
        RunningProgram program = grids(run, "grids", 50);
        Await.until("it launches parts", BOUND, () -> of(manager, "grids", "partLaunches") > 40);
        end(program);
        end(other);
    }

    /** If a program ends or is killed during a grid of some seconds, the executor continues to serve others. */
    @Test
    void whoIsKilledBetweenPartsLeavesNothing(TestRun run) {
        ManagerProcess manager = run.manager(IN_PARTS, "--executors", "software");
        RunningProgram other = other(run);
        RunningProgram victim = grids(run, "victim", 400);
        Await.until("it launches parts", BOUND, () -> of(manager, "victim", "partLaunches") > 8);
        victim.kill();
        RunningProgram after = grids(run, "after", 1);
        assertEquals("launched 1", after.nextLine(BOUND));
        end(after);
        end(other);
        Await.until("the victim's memory is free", BOUND, () -> of(manager, "victim", "usedBytes") == 0);
        assertTrue(manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject().get("restarts").getAsInt() == 0,
                "no executor was lost");
    }
}
