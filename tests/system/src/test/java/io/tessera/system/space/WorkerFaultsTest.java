package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The processes that read programs' code get unreadable code, are killed, and are stopped, while other programs continue. */
@ExtendWith(RunWatcher.class)
class WorkerFaultsTest {
    private static final Duration BOUND = Duration.ofSeconds(120);
    /** Number of faults: fewer than the attempts of a job to get a worker, because a worker that is killed while it starts had no job yet. */
    private static final int FAULTS = 4;
    /** A small time limit for jobs, because a stopped worker delays its program until then. */
    private static final Map<String, String> SMALL = Map.of("TESSERA_WORKER_SECONDS", "10", "TESSERA_WORKER_MEMORY", "256");

    private static RunningProgram program(TestRun run, String name, String tenant, String... arguments) {
        return run.program(name, arguments).env("TESSERA_SHARE", "space").tenant(tenant).start();
    }

    private static long executorPid(ManagerProcess manager) {
        JsonObject executor = manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
        return executor.get("pid").getAsLong();
    }

    private static List<ProcessHandle> workers(long executor) {
        return ProcessHandle.of(executor).orElseThrow().children().toList();
    }

    private static String end(RunningProgram program, String wanted) {
        program.tell("");
        ProgramResult result = program.end(BOUND).exits(0);
        assertTrue(result.output().getLast().matches(wanted), result::toString);
        return result.output().getLast();
    }

    @Test
    void codeThatTakesTooMuchCostsItsProgramAlone(TestRun run) {
        ManagerProcess manager = run.manager(SMALL, "--executors", "nvidia");
        run.expectClientError("");
        run.expectLine("");
        RunningProgram loads = run.program("relay_code", "ordinary", "1").env("TESSERA_SHARE", "space").env("RELAY_WORKER_PAUSE_US", "10000")
                .tenant("loads").start().awaitLine("ready");
        long pid = executorPid(manager);
        for (String what : List.of("parameter", "registers", "loops")) {
            ProgramResult result = program(run, "relay_code", "hostile", what).end(BOUND).exits(0);
            assertTrue(result.output().getLast().matches("answer \\d+"), result::toString);
        }
        end(loads, "right [1-9]\\d* 0");
        assertEquals(pid, executorPid(manager), "the executor was started again");
    }

    /** A client without a job in progress notices nothing; one with a job is told that the job was lost, and continues. */
    @ParameterizedTest
    @ValueSource(strings = {"KILL", "STOP"})
    void aWorkerThatEndsOrStandsCostsTheProgramWhoseCodeItHasAlone(String signal, TestRun run) {
        SeededRandom random = new SeededRandom("aWorkerThatEndsOrStandsCostsTheProgramWhoseCodeItHasAlone");
        ManagerProcess manager = run.manager(SMALL, "--executors", "nvidia");
        run.expectClientError("");
        run.expectLine("");
        RunningProgram other = program(run, "relay_worker", "other", "mixed", "7", "0").awaitLine("ready");
        RunningProgram loads = program(run, "relay_code", "loads", "ordinary", "1").awaitLine("ready");
        long pid = executorPid(manager);
        int faults = signal.equals("KILL") ? FAULTS : 1;
        for (int i = 0; i < faults; i++) {
            Await.sleep(Duration.ofMillis(random.below(2_500)));
            for (ProcessHandle worker : workers(pid)) {
                ProcessSignals.send(worker.pid(), signal.equals("KILL") ? ProcessSignals.KILL : ProcessSignals.STOP);
            }
        }
        RunningProgram late = program(run, "relay_code", "late", "ordinary", "100000").awaitLine("ready");
        end(late, "right [1-9]\\d* [01]");
        end(other, "right [1-9]\\d*");
        String said = end(loads, "right [1-9]\\d* \\d+");
        int lost = Integer.parseInt(said.split(" ")[2]);
        assertTrue(lost <= faults, said + " after " + faults + " faults, seed " + random.seed());
        assertEquals(pid, executorPid(manager), "the executor was started again, seed " + random.seed());
    }
}
