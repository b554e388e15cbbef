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
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Long kernels of a replayable tenant are stopped for an interactive one and run again, and their results are right. */
@ExtendWith(RunWatcher.class)
class ReplayInSpaceTest {
    private static final Duration BOUND = Duration.ofSeconds(120);

    private static void set(ManagerProcess manager, String tenant, String terms) {
        manager.control().okay("{\"request\":\"tenant\",\"tenant\":\"" + tenant + "\",\"ahead\":true,\"set\":{" + terms + "}}");
    }

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

    /** Each of its launches takes some 120 ms alone. */
    private static RunningProgram batch(TestRun run) {
        return run.program("relay_replay", "20", "120").env("TESSERA_SHARE", "space").tenant("batch").start().awaitLine("ready");
    }

    /** Its work comes in bursts of some 13 ms. */
    private static RunningProgram interactive(TestRun run) {
        return run.program("relay_flood", "200", "60000").env("TESSERA_SHARE", "space").tenant("interactive").start().awaitLine("ready");
    }

    private static void end(RunningProgram program) {
        program.tell("");
        program.end(BOUND).exits(0);
    }

    private static ManagerProcess manager(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "software");
        set(manager, "interactive", "\"class\":\"interactive\"");
        return manager;
    }

    @Test
    void aKernelThatIsStoppedRunsAgain(TestRun run) {
        ManagerProcess manager = manager(run);
        set(manager, "batch", "\"replayable\":true");
        RunningProgram batch = batch(run);
        batch.nextLine(BOUND); // alone: its kernels take as long as they are known to take
        RunningProgram interactive = interactive(run);
        Await.until("kernels were stopped", BOUND, () -> of(manager, "batch", "replays") >= 4);
        assertTrue(of(manager, "batch", "lostNs") > 0);
        int sofar = batch.output().size();
        Await.until("its launches end although the other one comes again and again", BOUND, () -> batch.output().size() > sofar);
        end(interactive);
        Await.until("the other one has left", BOUND, () -> of(manager, "interactive", "launches") == 0);
        int before = batch.output().size();
        Await.until("it goes on alone", BOUND, () -> batch.output().size() > before);
        end(batch);
        assertEquals(0, manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject().get("restarts").getAsInt());
    }

    /** The setting is taken back while kernels are stopped, and the program is killed while one is. */
    @Test
    void theSettingAndTheProgramMayEndMeanwhile(TestRun run) {
        ManagerProcess manager = manager(run);
        set(manager, "batch", "\"replayable\":true");
        RunningProgram batch = batch(run);
        RunningProgram interactive = interactive(run);
        Await.until("kernels were stopped", BOUND, () -> of(manager, "batch", "replays") >= 2);
        set(manager, "batch", "\"replayable\":false");
        int before = batch.output().size();
        Await.until("its launches go on", BOUND, () -> batch.output().size() > before);
        set(manager, "batch", "\"replayable\":true");
        long replays = of(manager, "batch", "replays");
        Await.until("kernels are stopped again", BOUND, () -> of(manager, "batch", "replays") > replays);
        batch.kill();
        batch.end();
        RunningProgram next = batch(run);
        assertEquals("launched 1", next.nextLine(BOUND));
        end(next);
        end(interactive);
        Await.until("nothing is left of it", BOUND, () -> of(manager, "batch", "usedBytes") == 0);
        assertEquals(0, manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject().get("restarts").getAsInt());
    }

    @Test
    void othersKernelsAreNeverStopped(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram batch = batch(run);
        RunningProgram interactive = interactive(run);
        for (String line : List.of("launched 1", "launched 2")) {
            assertEquals(line, batch.nextLine(BOUND));
        }
        assertEquals(0, of(manager, "batch", "replays"));
        end(interactive);
        end(batch);
    }
}
