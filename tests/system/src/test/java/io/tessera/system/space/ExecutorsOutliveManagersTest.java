package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Managers that are killed, stopped and started again while relayed programs run: no other process ends, and no setting is lost. */
@ExtendWith(RunWatcher.class)
class ExecutorsOutliveManagersTest {
    /** Number of kills; use 200 for a run by hand. */
    private static final int KILLS = Integer.getInteger("tessera.test.kills", 6);
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final long LIMIT_BYTES = 300L << 20;
    private static final String[] OPTIONS = {"--executors", "nvidia", "--mode", "on", "--quantum", "30ms"};

    private static RunningProgram relayed(TestRun run, String mode, int number) {
        return run.program("relay_worker", mode, Integer.toString(number), "0").env("TESSERA_SHARE", "space")
                .env("RELAY_WORKER_SECONDS", Integer.toString(120 + 10 * KILLS)).env("RELAY_WORKER_PAUSE_US", "2000").tenant("relayed-" + number)
                .start().awaitLine("ready");
    }

    private static JsonObject executor(ManagerProcess manager) {
        return manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    private static boolean isReady(ManagerProcess manager) {
        JsonObject status = manager.control().status();
        return status.has("executors") && executor(manager).get("state").getAsString().equals("ready");
    }

    /** Returns the executor's entry for the client of a process; null: the executor has not reported it yet. */
    private static JsonObject in(ManagerProcess manager, RunningProgram program) {
        for (JsonElement client : executor(manager).getAsJsonArray("clients")) {
            if (client.getAsJsonObject().get("pid").getAsLong() == program.pid()) {
                return client.getAsJsonObject();
            }
        }
        return null;
    }

    private static boolean isKnown(ManagerProcess manager, RunningProgram program) {
        JsonObject client = in(manager, program);
        return client != null && client.get("client").getAsLong() != 0
                && manager.control().client(program.pid()).get("id").equals(client.get("client"));
    }

    private static void endsRight(RunningProgram worker) {
        worker.tell("");
        ProgramResult result = worker.end(BOUND).exits(0);
        assertTrue(result.output().getLast().matches("right [1-9]\\d*"), result::toString);
    }

    private static void expectDeaths(TestRun run) {
        run.expectLine("this program continues in its executor");
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager");
    }

    private static void limit(ManagerProcess manager, String tenant) {
        manager.control().okay("{\"request\":\"limit\",\"ahead\":true,\"tenant\":\"" + tenant + "\",\"bytes\":" + LIMIT_BYTES + "}");
    }

    private static long quota(ManagerProcess manager, String tenant) {
        JsonArray windows = executor(manager).getAsJsonArray("windows");
        for (JsonElement window : windows) {
            if (window.getAsJsonObject().get("tenant").getAsString().equals(tenant)) {
                return window.getAsJsonObject().get("quotaBytes").getAsLong();
            }
        }
        return -1;
    }

    @Test
    void managersThatAreKilledEndNoProgram(TestRun run) {
        SeededRandom random = new SeededRandom("managersThatAreKilledEndNoProgram");
        expectDeaths(run);
        ManagerProcess manager = run.manager(OPTIONS);
        List<RunningProgram> relayed = List.of(relayed(run, "mixed", 1), relayed(run, "copies", 2), relayed(run, "allocations", 3));
        RunningProgram holds = relayed.get(1); // it makes copies, and has the same memory all the time
        RunningProgram turns = run.program("worker", "ms=0", "kernel_us=400", "batch=3").tenant("turns").start().awaitLine("ready");
        limit(manager, "relayed-1");
        limit(manager, "comes later");
        ManagerProcess first = manager;
        Await.until("the limit holds", Await.PATIENCE, () -> quota(first, "relayed-1") == LIMIT_BYTES,
                () -> executor(first).toString());
        Await.until("what the program has is said", Await.PATIENCE, () -> in(first, holds).get("usedBytes").getAsLong() > 0);
        long used = in(manager, holds).get("usedBytes").getAsLong();
        long pid = executor(manager).get("pid").getAsLong();
        for (int kill = 0; kill < KILLS; kill++) {
            Await.sleep(Duration.ofMillis(random.below(600)));
            manager.kill();
            Await.sleep(Duration.ofMillis(random.below(300)));
            ManagerProcess next = run.manager(OPTIONS);
            if (kill % 2 == 1 || kill == KILLS - 1) {
                Await.until("everybody is known again", Await.PATIENCE, () -> isReady(next)
                        && relayed.stream().allMatch(program -> isKnown(next, program)),
                        () -> next.control().status().toString());
                assertEquals(pid, executor(next).get("pid").getAsLong(), "seed " + random.seed());
                assertEquals(LIMIT_BYTES, quota(next, "relayed-1"));
                assertEquals(used, in(next, holds).get("usedBytes").getAsLong());
                assertEquals("relayed-2", in(next, relayed.get(1)).get("tenant").getAsString());
            }
            manager = next;
        }
        ManagerProcess last = manager;
        RunningProgram later = run.program("relay_lost").env("TESSERA_SHARE", "space").tenant("comes later").start().awaitLine("ready");
        Await.until("a limit holds for clients that come later", Await.PATIENCE, () -> quota(last, "comes later") == LIMIT_BYTES,
                () -> executor(last).toString());
        later.kill();
        relayed.forEach(ExecutorsOutliveManagersTest::endsRight);
        Await.until("turns are taken", Await.PATIENCE, () -> last.control().clientDevice(turns.pid()).get("turns").getAsLong() > 0);
        ProcessSignals.send(turns.process(), ProcessSignals.TERM);
        turns.end();
        assertEquals(pid, executor(last).get("pid").getAsLong(), "seed " + random.seed());
    }

    @Test
    void aManagerThatIsStoppedEndsNoProgramAndAnExecutorThatNobodyNeeds(TestRun run) {
        expectDeaths(run);
        ManagerProcess manager = run.manager(OPTIONS);
        RunningProgram program = relayed(run, "mixed", 1);
        long pid = executor(manager).get("pid").getAsLong();
        assertEquals(0, manager.stop());
        Await.sleep(Duration.ofMillis(500));
        ManagerProcess next = run.manager(OPTIONS);
        Await.until("the executor is taken over", Await.PATIENCE, () -> isReady(next));
        assertEquals(pid, executor(next).get("pid").getAsLong());
        endsRight(program);
        Await.until("nobody is there", Await.PATIENCE, () -> executor(next).getAsJsonArray("clients").isEmpty());
        assertEquals(0, next.stop());
        Await.until("the executor has ended", Await.PATIENCE, () -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }

    @Test
    void withoutAManagerANewProgramHearsThatThereIsNone(TestRun run) {
        expectDeaths(run);
        run.expectLine("so there is no executor");
        run.expectClientError("no manager");
        ManagerProcess manager = run.manager(OPTIONS);
        RunningProgram program = relayed(run, "mixed", 1);
        manager.kill();
        ProgramResult refused = run.program("relay_worker", "mixed", "2", "1").env("TESSERA_SHARE", "space").run();
        assertFalse(refused.exit() == 0, refused::toString);
        assertTrue(refused.libraryLines().toString().contains("so there is no executor"), refused::toString);
        endsRight(program);
    }

    @Test
    void whoeverIsToldToEndAllEndsAll(TestRun run) {
        run.expectLog("is ended by signal");
        run.expectLine("");
        run.expectClientError("");
        ManagerProcess manager = run.manager(OPTIONS);
        RunningProgram relayed = relayed(run, "mixed", 1);
        RunningProgram turns = run.program("console").start();
        turns.openDevice();
        long pid = executor(manager).get("pid").getAsLong();
        manager.control().okay("{\"request\":\"stop\",\"programs\":true}");
        relayed.end(BOUND);
        turns.end(BOUND);
        Await.until("the manager has ended", BOUND, () -> !manager.alive());
        assertTrue(ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
    }
}
