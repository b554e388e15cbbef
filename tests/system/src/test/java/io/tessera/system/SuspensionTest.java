package io.tessera.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Processes that the driver takes off the device with all they have there; contents of 80 MiB, so that there is a choice. */
@ExtendWith(RunWatcher.class)
class SuspensionTest {
    private static final long MIB = 1L << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** Calls of a process that is away return late enough to be seen to wait for somebody. */
    private static final String SCRIPT = "memory 128MiB; bound 100s; checkpoints ";

    private static ManagerProcess manager(TestRun run, String script) {
        return run.manager(Map.of("TESSERA_SCRIPT", script), "--capacity", "112MiB", "--executors", "none");
    }

    private static String script(TestRun run) throws IOException {
        return SCRIPT + Files.createDirectory(checkpoints(run));
    }

    private static Path checkpoints(TestRun run) {
        return run.directory().resolve("checkpoints");
    }

    /** Where the scripted driver says what it has done with the program; absent: nothing. */
    private static Path state(TestRun run, RunningCase program) {
        return checkpoints(run).resolve(Long.toString(program.pid()));
    }

    private static JsonObject residency(ManagerProcess manager, RunningCase program) {
        return manager.control().clientDevice(program.pid()).getAsJsonObject("residency");
    }

    private static void suspend(ManagerProcess manager, RunningCase idle, Path state, String way) {
        manager.control().okay("{\"request\":\"evict\",\"tenant\":\"idle\",\"suspend\":true}");
        String said = residency(manager, idle).get("suspension").getAsString();
        assertTrue(said.startsWith(way), said);
        Await.until("it is suspended", PATIENCE, () -> residency(manager, idle).get("state").getAsString().equals("suspended"));
        assertEquals("2", text(state), "the driver has it");
        assertTrue(residency(manager, idle).get("parked").getAsBoolean());
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }

    private static RunningCase console(TestRun run, String tenant, String script, long bytes, int mark) {
        RunningCase program = run.program("console").plan("swap").tenant(tenant).script(script).start();
        MemoryTest.start(program);
        program.okay("alloc " + bytes);
        program.okay("fill 0 " + mark);
        return program;
    }

    /** A query passes no gate, and the driver would hold it until somebody else has brought the process back. */
    @Test
    void anyCallBringsItBack(TestRun run) throws IOException {
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningCase idle = console(run, "idle", script, 80 * MIB, 7);
        Path state = state(run, idle);
        for (String way : List.of("by swap first", "by checkpoint alone")) {
            suspend(manager, idle, state, way);
            Await.sleep(Duration.ofSeconds(1));
            assertTrue(Files.exists(state), "nobody called it");
            idle.okay("info");
            assertTrue(Files.notExists(state), "it was restored");
            idle.okay("total 0");
            idle.okay("check 0 7");
        }
        idle.quit().exits(0);
    }

    /** What it waits for is gone with the manager; the next one brings it back, and the call goes on. */
    @Test
    void aCallGoesOnUnderTheNextManager(TestRun run) throws IOException {
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager is gone"); // if it has come back to the next one before it ends
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningCase idle = console(run, "idle", script, 8 * MIB, 7);
        Path state = state(run, idle);
        suspend(manager, idle, state, "by ");
        manager.kill();
        idle.tell("info");
        manager(run, script);
        String answer = idle.nextLine(PATIENCE);
        assertTrue(answer.startsWith("ok"), answer);
        assertTrue(Files.notExists(state), "it was restored");
        idle.okay("check 0 7");
        idle.quit().exits(0);
    }

    @Test
    void theDriverTakesContentsAsTheyStandAndTheyComeBackInTheirTurn(TestRun run) throws IOException {
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningCase idle = console(run, "idle", script, 80 * MIB, 7);
        Path state = state(run, idle);
        suspend(manager, idle, state, "by swap first: no checkpoint was measured yet");
        assertEquals(80 * MIB, residency(manager, idle).get("swappedBytes").getAsLong());
        idle.okay("check 0 7");
        suspend(manager, idle, state, "by checkpoint alone, to measure it");
        assertEquals(0, residency(manager, idle).get("swappedBytes").getAsLong());
        assertEquals(0, residency(manager, idle).get("residentBytes").getAsLong());
        RunningCase other = console(run, "other", script, 24 * MIB, 9);
        for (int round = 0; round < 2; round++) {
            idle.okay("launch 1000 2");
            idle.okay("check 0 7");
            other.okay("launch 1000 2");
            other.okay("check 0 9");
        }
        assertTrue(Files.notExists(state), "it was restored");
        suspend(manager, idle, state, "by ");
        manager.control().okay("{\"request\":\"restore\",\"tenant\":\"idle\"}");
        Await.until("it is back without a call", PATIENCE, () -> Files.notExists(state)
                && !residency(manager, idle).has("suspension"));
        idle.okay("check 0 7");
        idle.quit().exits(0);
        other.quit().exits(0);
    }
}
