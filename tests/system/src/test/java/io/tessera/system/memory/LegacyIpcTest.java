package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Legacy IPC of memory under plan swap: one program exports memory from cuMemAlloc, another one opens it, and both use it.
 */
@ExtendWith(RunWatcher.class)
class LegacyIpcTest {
    private static final long MIB = 1L << 20;
    private static final String SCRIPT = "memory 64MiB";
    private static final Duration PATIENCE = Duration.ofSeconds(40);
    private static final String NO_CONTEXT = "error 201";
    private static final String NO_HANDLE = "error 400";
    private static final int MAGIC_DIGITS = 16;

    private static ManagerProcess manager(TestRun run) {
        return run.sharedManager("--capacity", "64MiB", "--executors", "none", "--move-share", "50%");
    }

    private static RunningProgram program(TestRun run, String plan, String tenant) {
        return program(run, plan, tenant, 0, SCRIPT);
    }

    private static RunningProgram program(TestRun run, String plan, String tenant, int device, String script) {
        RunningProgram program = run.program("console").plan(plan).tenant(tenant).script(script).start();
        program.okay("init");
        program.okay("context " + device);
        return program;
    }

    /** Allocates memory and fills it. */
    private static void hold(RunningProgram program, int index, long bytes, int value) {
        assertEquals(Integer.toString(index), program.okay("alloc " + bytes));
        write(program, index, value);
    }

    /** Writes memory. The check in the same program waits for the write. */
    private static void write(RunningProgram program, int index, int value) {
        program.okay("fill " + index + " " + value);
        program.okay("check " + index + " " + value);
    }

    private static JsonObject residency(ManagerProcess manager, RunningProgram program) {
        return manager.control().clientDevice(program.pid()).getAsJsonObject("residency");
    }

    /** An allocation with more chunks than one answer has descriptors, and two small allocations, of which one is exported. */
    @Test
    void allReadWhatOneWrote(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram exporter = program(run, "auto", "exporter");
        hold(exporter, 0, 40 * MIB, 1);
        hold(exporter, 1, 5000, 2);
        hold(exporter, 2, 3000, 3);
        String large = exporter.okay("handle 0");
        String small = exporter.okay("handle 2");
        assertEquals(large, exporter.okay("handle 0"));
        assertNotEquals(large, small);
        exporter.awaitAnswer("open " + large, NO_CONTEXT);
        assertEquals("0 3000 0 1", exporter.okay("range 2"));
        int value = 3;
        for (String plan : new String[] {"swap", "plain"}) {
            RunningProgram opener = program(run, plan, "opener-" + plan);
            assertEquals("0", opener.okay("open " + large));
            assertEquals("1", opener.okay("open " + small));
            assertEquals("0 " + 40 * MIB + " 0 0", opener.okay("range 0"));
            assertEquals("0 3000 0 0", opener.okay("range 1"));
            opener.okay("check 0 " + (plan.equals("swap") ? 1 : value));
            opener.okay("check 1 " + value);
            write(opener, 0, value + 10);
            write(opener, 1, value + 11);
            exporter.okay("check 0 " + (value + 10));
            exporter.okay("check 1 2");
            exporter.okay("check 2 " + (value + 11));
            value += 20;
            write(exporter, 0, value);
            write(exporter, 2, value);
            opener.okay("check 0 " + value);
        }
        JsonObject residency = residency(manager, exporter);
        assertEquals(42 * MIB, residency.get("fixedBytes").getAsLong());
        assertTrue(residency.get("choice").getAsString().startsWith("swap"), residency::toString);
        exporter.quit().exits(0);
    }

    /** Opens are counted. The last close unmaps the memory, and memory that its owner has freed ends with its last user. */
    @Test
    void openedTwiceIsMappedUntilItIsClosedTwice(TestRun run) {
        run.expectLine("could not be opened");
        manager(run);
        RunningProgram exporter = program(run, "swap", "exporter");
        RunningProgram opener = program(run, "swap", "opener");
        hold(exporter, 0, 4 * MIB, 1);
        String handle = exporter.okay("handle 0");
        opener.okay("open " + handle);
        opener.okay("open " + handle);
        String mapped = opener.okay("mappings");
        opener.okay("close 0");
        opener.okay("check 1 1");
        opener.okay("begin 2"); // during a capture the library cannot wait, so the memory is unmapped at the next open or close
        opener.okay("launch 1000 1");
        opener.okay("close 1");
        assertEquals(mapped, opener.okay("mappings"));
        opener.okay("end");
        opener.okay("graph");
        assertEquals("2", opener.okay("open " + handle));
        assertEquals(mapped, opener.okay("mappings"));
        opener.okay("check 2 1");
        exporter.okay("free 0");
        opener.okay("check 2 1");
        write(opener, 2, 5);
        opener.okay("close 2");
        assertEquals("0", opener.okay("mappings"));
        opener.awaitAnswer("close 2", "error 1");
        opener.awaitAnswer("open " + handle, NO_HANDLE);
        opener.awaitAnswer("free 2", "error 1");
        opener.quit().exits(0);
        exporter.quit().exits(0);
    }

    /** A third program needs the device: memory that is not exported moves; exported memory stays, with the right contents for both. */
    @Test
    void whatIsExportedStaysWhileTheRestMoves(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram exporter = program(run, "swap", "exporter");
        RunningProgram opener = program(run, "swap", "opener");
        hold(exporter, 0, 8 * MIB, 1);
        hold(exporter, 1, 20 * MIB, 2);
        RunningProgram third = program(run, "swap", "third");
        hold(third, 0, 38 * MIB, 4);
        opener.okay("open " + exporter.okay("handle 0")); // this needs room for one more chunk, which the third program gives up
        hold(opener, 1, 4 * MIB, 3);
        for (int round = 1; round <= 4; round++) {
            third.okay("check 0 4");
            write(opener, 0, 10 * round);
            exporter.okay("check 0 " + 10 * round);
            exporter.okay("check 1 2");
            write(exporter, 0, 10 * round + 1);
            third.okay("launch 1000 2");
            third.okay("sync");
            opener.okay("check 0 " + (10 * round + 1));
            opener.okay("check 1 3");
        }
        JsonObject residency = residency(manager, exporter);
        assertEquals(8 * MIB, residency.get("fixedBytes").getAsLong());
        assertTrue(residency.get("movesOut").getAsLong() > 0, residency::toString);
        assertEquals(0, residency(manager, opener).get("fixedBytes").getAsLong());
        third.quit().exits(0);
        opener.quit().exits(0);
        exporter.quit().exits(0);
    }

    /** Each of the calls that open memory of several chunks fails once. Nothing stays mapped or open, and the next attempt succeeds. */
    @Test
    void openThatTheDriverFailsLeavesNothing(TestRun run) {
        manager(run);
        RunningProgram exporter = program(run, "swap", "exporter");
        RunningProgram opener = program(run, "plain", "opener", 0, SCRIPT + "; fail cuMemAddressReserve 2 at 1"
                + "; fail cuMemImportFromShareableHandle 999 at 3; fail cuMemMap 2 at 6; fail cuMemSetAccess 1 at 1");
        hold(exporter, 0, 8 * MIB, 1);
        String handle = exporter.okay("handle 0");
        opener.okay("alloc 4096"); // so that the driver's own files are open before they are counted
        String files = opener.okay("descriptors");
        for (String error : new String[] {"error 2", "error 999", "error 2", "error 1"}) {
            opener.awaitAnswer("open " + handle, error);
            assertEquals("0", opener.okay("mappings"));
            assertEquals(files, opener.okay("descriptors"));
        }
        assertEquals("1", opener.okay("open " + handle));
        opener.okay("check 1 1");
        opener.quit().exits(0);
        exporter.quit().exits(0);
    }

    private static int descriptors(RunningProgram program) {
        return Integer.parseInt(program.okay("descriptors"));
    }

    /** The server closes a connection only after the opener has its answer, so the first connection may still be open when files are counted. */
    @Test
    void aHundredRoundsLeaveNothingOpen(TestRun run) {
        manager(run);
        RunningProgram exporter = program(run, "swap", "exporter");
        RunningProgram opener = program(run, "plain", "opener");
        hold(exporter, 0, 4 * MIB, 1);
        opener.okay("alloc " + MIB);
        opener.okay("open " + exporter.okay("handle 0"));
        opener.okay("close 1");
        exporter.okay("free 0");
        long used = run.witness().usedBytes(exporter.pid(), 0);
        int exporters = descriptors(exporter);
        String openers = opener.okay("descriptors");
        int index = 0;
        for (int round = 1; round <= 100; round++) {
            exporter.okay("alloc " + 4 * MIB);
            index++;
            opener.okay("open " + exporter.okay("handle " + index));
            opener.okay("close " + (index + 1));
            exporter.okay("free " + index);
        }
        assertEquals("0", opener.okay("mappings"));
        assertEquals(openers, opener.okay("descriptors"));
        Await.until("the server has closed the last connection", PATIENCE,
                () -> descriptors(exporter) <= exporters);
        assertEquals(used, run.witness().usedBytes(exporter.pid(), 0));
        opener.quit().exits(0);
        exporter.quit().exits(0);
    }

    @Test
    void threadsThatOpenAndCloseTheSame(TestRun run) {
        SeededRandom random = new SeededRandom("threadsThatOpenAndCloseTheSame");
        manager(run);
        run.program("ipc_threads", Integer.toString(random.below(1 << 30))).plan("swap").script(SCRIPT).run().exits(0)
                .says("done 1200");
    }

    @Test
    void deathOfEitherIsNotTheOthers(TestRun run) {
        run.expectLine("could not be opened");
        manager(run);
        RunningProgram exporter = program(run, "swap", "exporter");
        hold(exporter, 0, 8 * MIB, 1);
        String handle = exporter.okay("handle 0");
        RunningProgram first = program(run, "swap", "first");
        first.okay("open " + handle);
        first.okay("fill 0 2");
        first.kill();
        first.end();
        RunningProgram second = program(run, "swap", "second");
        second.okay("open " + handle);
        write(exporter, 0, 3);
        second.okay("check 0 3");
        exporter.kill();
        exporter.end();
        write(second, 0, 4);
        second.okay("close 0");
        second.awaitAnswer("open " + handle, NO_HANDLE);
        hold(second, 1, 8 * MIB, 5);
        second.quit().exits(0);
    }

    /** A handle of which any part was changed opens nothing, and the exporter continues. A handle that the driver made goes to the driver. */
    @Test
    void handlesThatNobodyMade(TestRun run) {
        run.expectLine("could not be opened");
        run.expectClientError("showed an IPC handle");
        manager(run);
        RunningProgram exporter = program(run, "swap", "exporter");
        RunningProgram opener = program(run, "swap", "opener");
        RunningProgram plain = program(run, "plain", "plain");
        hold(exporter, 0, 4 * MIB, 1);
        hold(plain, 0, 4 * MIB, 2);
        String handle = exporter.okay("handle 0");
        for (int at = MAGIC_DIGITS; at < handle.length() - 16; at += 5) {
            char changed = handle.charAt(at) == '0' ? '1' : '0';
            String answer = opener.ask("open " + handle.substring(0, at) + changed + handle.substring(at + 1));
            assertTrue(answer.startsWith("error "), "changed at " + at + ": " + answer);
        }
        opener.okay("open " + handle);
        opener.okay("check 0 1");
        opener.okay("open " + plain.okay("handle 0"));
        opener.okay("check 1 2");
        opener.okay("close 1");
        opener.okay("close 0");
        for (RunningProgram program : new RunningProgram[] {opener, plain, exporter}) {
            program.quit().exits(0);
        }
    }

    /** The GPU counts, not its ordinal in the opener; another GPU of the opener can access the memory, too. An opener that does not see the GPU fails. */
    @Test
    void memoryOfAnotherDevice(TestRun run) {
        run.expectLine("does not see its GPU");
        manager(run);
        RunningProgram exporter = program(run, "swap", "exporter", 1, SCRIPT + "; visible 0 1");
        hold(exporter, 0, 4 * MIB, 1);
        String handle = exporter.okay("handle 0");
        RunningProgram other = program(run, "plain", "other", 1, SCRIPT + "; visible 1 0");
        assertEquals("0", other.okay("open " + handle));
        assertEquals("0 " + 4 * MIB + " 0 0", other.okay("range 0"));
        other.okay("check 0 1");
        write(other, 0, 2);
        exporter.okay("check 0 2");
        RunningProgram blind = program(run, "plain", "blind", 0, SCRIPT + "; visible 0");
        blind.awaitAnswer("open " + handle, "error 101");
        for (RunningProgram program : new RunningProgram[] {other, blind, exporter}) {
            program.quit().exits(0);
        }
    }

    private static boolean allStopped(long pid) {
        try (Stream<Path> threads = Files.list(Path.of("/proc", Long.toString(pid), "task"))) {
            for (Path thread : threads.toList()) {
                String stat = Files.readString(thread.resolve("stat"));
                if (stat.charAt(stat.lastIndexOf(')') + 2) != 'T') {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The opener waits for a stopped exporter, but not for ever. */
    @Test
    void exporterThatDoesNotAnswer(TestRun run) {
        run.expectLine("could not be opened");
        run.expectClientError("does not answer");
        manager(run);
        RunningProgram exporter = program(run, "swap", "exporter");
        RunningProgram opener = run.program("console").plan("swap").script(SCRIPT).env("TESSERA_MEMORY_WAIT_MS", "300")
                .start();
        opener.openDevice();
        hold(exporter, 0, 4 * MIB, 1);
        String handle = exporter.okay("handle 0");
        ProcessSignals.send(exporter.process(), ProcessSignals.STOP);
        Await.until("every thread of it has stopped", PATIENCE, () -> allStopped(exporter.pid()));
        opener.awaitAnswer("open " + handle, "error 304");
        ProcessSignals.send(exporter.process(), ProcessSignals.CONT);
        Await.until("it answers again", PATIENCE, () -> opener.ask("open " + handle).equals("ok 0"));
        opener.okay("check 0 1");
        opener.quit().exits(0);
        exporter.quit().exits(0);
    }
}
