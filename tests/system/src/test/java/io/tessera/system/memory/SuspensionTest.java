package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.DriverCallCounts;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whole processes that the driver takes off the device. Their contents of 80 MiB are large enough for a choice between the two ways of suspension. */
@ExtendWith(RunWatcher.class)
class SuspensionTest {
    private static final long MIB = 1L << 20;
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    /** With this script, calls of a suspended process return only after a long bound, so that a test can see that they wait. */
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

    /** Returns the file in which the scripted driver records what it did with the program; it does not exist if it did nothing. */
    private static Path state(TestRun run, RunningProgram program) {
        return checkpoints(run).resolve(Long.toString(program.pid()));
    }

    private static JsonObject residency(ManagerProcess manager, RunningProgram program) {
        return manager.control().clientDevice(program.pid()).getAsJsonObject("residency");
    }

    private static void suspend(ManagerProcess manager, RunningProgram idle, Path state, String way) {
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

    private static RunningProgram console(TestRun run, String tenant, String script, long bytes, int mark) {
        RunningProgram program = run.program("console").plan("swap").tenant(tenant).script(script).start();
        program.openDevice();
        program.okay("alloc " + bytes);
        program.okay("fill 0 " + mark);
        return program;
    }

    /** A query passes no gate, and the driver would block it until another event brings the process back. */
    @Test
    void anyCallBringsItBack(TestRun run) throws IOException {
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningProgram idle = console(run, "idle", script, 80 * MIB, 7);
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
        suspend(manager, idle, state, "by ");
        idle.okay("handle 0");
        assertTrue(Files.notExists(state), "a process that is about to share memory is restored before that");
        idle.okay("check 0 7");
        idle.quit().exits(0);
    }

    /** The manager for which it waits is gone; the next one restores it, and the call continues. */
    @Test
    void aCallGoesOnUnderTheNextManager(TestRun run) throws IOException {
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager is gone"); // if it reconnects to the next manager before it ends
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningProgram idle = console(run, "idle", script, 8 * MIB, 7);
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

    /** The driver would checkpoint both processes, but restore neither of them unchanged. */
    @Test
    void whoSharesMemoryIsEvictedAndSaidNotToBeSuspended(TestRun run) throws IOException {
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningProgram exporter = console(run, "exporter", script, 8 * MIB, 7);
        RunningProgram idle = console(run, "idle", script, 24 * MIB, 9);
        String handle = exporter.okay("handle 0");
        assertEquals("1", idle.okay("open " + handle));
        idle.okay("check 1 7");
        notSuspended(manager, exporter, "exporter", "other processes may have its memory");
        notSuspended(manager, idle, "idle", "it has, or had, memory of other processes");
        assertTrue(Files.notExists(state(run, idle)) && Files.notExists(state(run, exporter)), "the driver was not asked");
        assertEquals(24 * MIB, residency(manager, idle).get("swappedBytes").getAsLong());
        exporter.okay("fill 0 11");
        exporter.okay("check 0 11");
        idle.okay("check 1 11");
        idle.okay("check 0 9");
        assertTrue(!residency(manager, idle).has("notSuspended"), "it is back");
        idle.quit().exits(0);
        exporter.quit().exits(0);
    }

    private static void notSuspended(ManagerProcess manager, RunningProgram program, String tenant, String why) {
        JsonObject answer = manager.control().okay("{\"request\":\"evict\",\"tenant\":\"" + tenant + "\",\"suspend\":true}");
        String said = answer.getAsJsonArray("notSuspended").get(0).getAsString();
        assertTrue(said.startsWith("process " + program.pid() + ": " + why), said);
        Await.until("its memory has left", PATIENCE, () -> residency(manager, program).get("residentBytes").getAsLong() == 0);
        assertTrue(residency(manager, program).get("notSuspended").getAsString().startsWith(why));
    }

    /** Memory of a program under plan plain cannot leave, so the order is refused, with the reason. */
    @Test
    void whoSharesMemoryAndCannotMoveStays(TestRun run) throws IOException {
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningProgram plain = run.program("console").plan("plain").tenant("plain").script(script).start();
        plain.openDevice();
        plain.okay("alloc " + MIB);
        plain.okay("fill 0 7");
        plain.okay("handle 0");
        JsonObject answer = manager.control().request("{\"request\":\"evict\",\"tenant\":\"plain\",\"suspend\":true}");
        assertTrue(answer.get("error").getAsString().startsWith("tenant \"plain\" is not suspended: process " + plain.pid()
                + ": other processes may have its memory"), answer::toString);
        plain.okay("check 0 7");
        plain.quit().exits(0);
    }

    /** Shared memory is recognised by a manager that was started after it was shared. */
    @Test
    void theNextManagerKnowsWhoSharesMemory(TestRun run) throws IOException {
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager is gone");
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningProgram exporter = console(run, "exporter", script, 8 * MIB, 7);
        exporter.okay("handle 0");
        manager.kill();
        ManagerProcess next = manager(run, script);
        Await.until("it is back", PATIENCE, () -> next.control().status().getAsJsonArray("clients").size() == 1
                && next.control().clientDevice(exporter.pid()).has("residency"));
        notSuspended(next, exporter, "exporter", "other processes may have its memory");
        exporter.okay("check 0 7");
        exporter.quit().exits(0);
    }

    /** The driver refuses managed memory, and the program continues as if nothing had happened. */
    @Test
    void whatTheDriverDoesNotTakeStays(TestRun run) throws IOException {
        run.expectLog("cannot be suspended");
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningProgram idle = console(run, "idle", script, 24 * MIB, 9);
        assertEquals("1", idle.okay("managed " + MIB));
        idle.okay("fill 1 7");
        idle.okay("check 1 7");
        manager.control().okay("{\"request\":\"evict\",\"tenant\":\"idle\",\"suspend\":true}");
        Await.until("the driver has said no", PATIENCE, () -> residency(manager, idle).has("notSuspended"));
        assertEquals("the driver refuses (checkpoint, error 801): it takes no managed memory, for one",
                residency(manager, idle).get("notSuspended").getAsString());
        assertEquals(24 * MIB, residency(manager, idle).get("swappedBytes").getAsLong(), "it is evicted");
        idle.okay("check 0 9");
        idle.okay("check 1 7");
        idle.quit().exits(0);
    }

    /** A process with physical memory of another client can only be suspended after its contents have moved out, which gives that memory up. */
    @Test
    void whoTookPhysicalMemoryOfOthersComesBack(TestRun run) throws IOException {
        String script = script(run);
        ManagerProcess manager = run.manager(Map.of("TESSERA_SCRIPT", script), "--capacity", "128MiB", "--executors", "none");
        RunningProgram other = console(run, "other", script, 80 * MIB, 9);
        RunningProgram idle = console(run, "idle", script, 80 * MIB, 7);
        Await.until("memory is handed on", PATIENCE, () -> {
            other.okay("check 0 9");
            long before = DriverCallCounts.of("cuMemImportFromShareableHandle", run);
            idle.okay("check 0 7");
            return DriverCallCounts.of("cuMemImportFromShareableHandle", run) > before;
        });
        for (int round = 0; round < 3; round++) {
            suspend(manager, idle, state(run, idle), "by swap first: physical memory of others came to it");
            idle.okay("check 0 7");
            assertTrue(Files.notExists(state(run, idle)), "it was restored");
            other.okay("check 0 9");
            idle.okay("check 0 7");
        }
        idle.quit().exits(0);
        other.quit().exits(0);
    }

    @Test
    void theDriverTakesContentsAsTheyStandAndTheyComeBackInTheirTurn(TestRun run) throws IOException {
        String script = script(run);
        ManagerProcess manager = manager(run, script);
        RunningProgram idle = console(run, "idle", script, 80 * MIB, 7);
        Path state = state(run, idle);
        suspend(manager, idle, state, "by swap first: no checkpoint was measured yet");
        assertEquals(80 * MIB, residency(manager, idle).get("swappedBytes").getAsLong());
        idle.okay("check 0 7");
        suspend(manager, idle, state, "by checkpoint alone, to measure it");
        assertEquals(0, residency(manager, idle).get("swappedBytes").getAsLong());
        assertEquals(0, residency(manager, idle).get("residentBytes").getAsLong());
        RunningProgram other = console(run, "other", script, 24 * MIB, 9);
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
