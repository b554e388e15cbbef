package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Processes of one tenant hand each other memory and events by CUDA's IPC handles, in space sharing. */
@ExtendWith(RunWatcher.class)
class RelayIpcTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    /** {@code CUDA_ERROR_NOT_SUPPORTED}, {@code CUDA_ERROR_INVALID_HANDLE}. */
    private static final int NOT_SUPPORTED = 801;
    private static final int INVALID_HANDLE = 400;

    private static RunningProgram start(TestRun run, String tenant, String... arguments) {
        return run.program("relay_ipc", arguments).env("TESSERA_SHARE", "space").tenant(tenant).start();
    }

    private static void allIsFreed(ManagerProcess manager) {
        Await.until("all memory is free again", Await.PATIENCE, () -> {
            JsonObject executor = executor(manager);
            return executor.get("usedBytes").getAsLong() == 0 && executor.getAsJsonArray("clients").isEmpty();
        }, () -> executor(manager).toString());
    }

    private static JsonObject executor(ManagerProcess manager) {
        return manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    @ParameterizedTest
    @CsvSource({"share,nvidia", "outlive,nvidia", "churn,nvidia", "share,software", "outlive,software"})
    void processesOfOneTenantExchangeMemoryAndEvents(String mode, String executors, TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", executors);
        String foreign = "an IPC handle of a program that does not share by space";
        run.expectLine(foreign);
        run.expectClientError(foreign);
        start(run, "family", mode).end(BOUND).exits(0).says(mode + " ok");
        allIsFreed(manager);
    }

    @Test
    void anotherTenantOpensNothing(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "nvidia");
        String why = "programs that exchange memory need one --name";
        run.expectLine(why);
        run.expectClientError(why);
        Path file = run.directory().resolve("handle");
        RunningProgram owner = start(run, "family", "export", file.toString()).awaitLine("ready");
        start(run, "stranger", "open", file.toString()).end(BOUND).exits(0).says("opened: " + NOT_SUPPORTED);
        start(run, "family", "open", file.toString()).end(BOUND).exits(0).says("opened: 0");
        owner.kill();
        Await.until("the owner has ended", BOUND, () -> executor(manager).getAsJsonArray("clients").isEmpty(),
                () -> executor(manager).toString());
        start(run, "family", "open", file.toString()).end(BOUND).exits(0).says("opened: " + INVALID_HANDLE);
        allIsFreed(manager);
        assertEquals(0, executor(manager).get("restarts").getAsLong());
    }
}
