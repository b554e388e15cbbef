package io.tessera.system.space;

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

/** Kernels with other code for grids of few blocks: it uses the same variables, and programs do not notice it. */
@ExtendWith(RunWatcher.class)
class FewBlocksInSpaceTest {
    private static final Map<String, String> FEW_BLOCKS = Map.of("TESSERA_EXECUTOR_JAVA",
            TestFolders.EXECUTOR_JAVA + " -Dtessera.executor.fewBlocks=true");
    private static final Duration BOUND = Duration.ofSeconds(120);

    private static long fewBlockLaunches(ManagerProcess manager, String tenant) {
        JsonObject executor = manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
        for (JsonElement client : executor.getAsJsonArray("clients")) {
            JsonObject object = client.getAsJsonObject();
            if (object.get("tenant").getAsString().equals(tenant) && object.has("fewBlockLaunches")) {
                return object.get("fewBlockLaunches").getAsLong();
            }
        }
        return 0;
    }

    private static RunningProgram program(TestRun run, String program, String argument, String tenant) {
        return run.program(program, argument).env("TESSERA_SHARE", "space").tenant(tenant).start().awaitLine("ready");
    }

    /** One kernel counts blocks in a variable of the module, another one reads it. */
    @Test
    void codeForFewBlocksWorksOnTheSameVariables(TestRun run) {
        ManagerProcess manager = run.manager(FEW_BLOCKS, "--executors", "software");
        RunningProgram other = program(run, "relay_flood", "200", "other");
        RunningProgram program = program(run, "relay_grid", "1", "few");
        Await.until("it launches code for few blocks", BOUND, () -> fewBlockLaunches(manager, "few") > 50);
        program.tell("");
        program.end(BOUND).exits(0);
        other.tell("");
        other.end(BOUND).exits(0);
    }
}
