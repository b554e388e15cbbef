package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Space sharing on two devices, software GPUs with an executor each. */
@ExtendWith(RunWatcher.class)
class RelayDevicesTest {
    private static final Duration BOUND = Duration.ofSeconds(90);
    /** Bound on a wait for an executor's report, which it sends once a second. */
    private static final Duration FREED = Duration.ofSeconds(30);

    private static ManagerProcess manager(TestRun run) {
        return run.manager("--executors", "software", "--software-devices", "2", "--software-memory", "256MiB");
    }

    private static ProgramLaunch program(TestRun run, String what) {
        return run.program("relay_two_devices", what).env("TESSERA_SHARE", "space");
    }

    private static List<JsonObject> executors(ManagerProcess manager) {
        JsonArray all = manager.control().status().getAsJsonArray("executors");
        List<JsonObject> executors = new ArrayList<>();
        for (JsonElement executor : all) {
            executors.add(executor.getAsJsonObject());
        }
        return executors;
    }

    private static void allIsFreed(ManagerProcess manager) {
        Await.until("both devices are free again", FREED, () -> executors(manager).stream()
                .allMatch(executor -> executor.get("usedBytes").getAsLong() == 0
                        && executor.getAsJsonArray("clients").isEmpty()),
                () -> executors(manager).toString());
    }

    @Test
    void aProgramWorksOnTwoDevicesAtOnce(TestRun run) {
        ManagerProcess manager = manager(run);
        run.expectClientError("cuMemHostGetDevicePointer_v2");
        run.expectLine("cuMemHostGetDevicePointer_v2 is not supported in space sharing \\(memory that was pinned for another device\\)");
        program(run, "all").run().exits(0).says("two devices ok");
        List<JsonObject> executors = executors(manager);
        assertEquals(2, executors.size(), executors::toString);
        Set<String> uuids = new HashSet<>();
        executors.forEach(executor -> uuids.add(executor.get("uuid").getAsString()));
        assertEquals(2, uuids.size(), executors::toString);
        program(run, "visible").env("CUDA_VISIBLE_DEVICES", "1").run().exits(0).says("visible ok");
        allIsFreed(manager);
    }

    /** The failure of one device does not affect the other, and a client's end frees its objects on both. */
    @Test
    void oneExecutorIsKilledWhileTheOtherGoesOn(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram holder = program(run, "holds").start().awaitLine("ready");
        Await.until("both say what they hold", FREED, () -> executors(manager).stream()
                .allMatch(executor -> executor.get("usedBytes").getAsLong() > 0), () -> executors(manager).toString());
        holder.kill();
        allIsFreed(manager);
        run.expectLog("executor");
        run.expectClientError("the executor is gone");
        run.expectLine("the executor is gone: every later CUDA call fails");
        RunningProgram program = program(run, "lost").start().awaitLine("ready");
        long first = executors(manager).get(0).get("pid").getAsLong();
        long second = executors(manager).get(1).get("pid").getAsLong();
        assertTrue(ProcessHandle.of(second).orElseThrow().destroyForcibly());
        program.tell("");
        program.end(BOUND).exits(0).says("the other device goes on");
        program(run, "visible").env("CUDA_VISIBLE_DEVICES", "1").run().exits(0).says("visible ok");
        assertEquals(first, executors(manager).get(0).get("pid").getAsLong());
        assertNotEquals(second, executors(manager).get(1).get("pid").getAsLong());
        allIsFreed(manager);
    }
}
