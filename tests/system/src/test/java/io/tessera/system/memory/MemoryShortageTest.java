package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A device that has less memory than the manager believes, because contexts, the driver, or processes without Tessera have some of
 * it. Programs that each fit alone run to the end; a program that does not gets out of memory; none waits for ever.
 */
@ExtendWith(RunWatcher.class)
class MemoryShortageTest {
    private static final long MIB = 1L << 20;
    private static final long DEVICE = 64 * MIB;
    private static final Duration PATIENCE = Await.PATIENCE;

    private static ManagerProcess manager(TestRun run, String... options) {
        List<String> all = new ArrayList<>(List.of("--capacity", "64MiB", "--executors", "none", "--move-share", "50%"));
        all.addAll(List.of(options));
        return run.manager(all.toArray(String[]::new));
    }

    private static ProgramLaunch swapping(TestRun run, String script, String fixture, String tenant, String... arguments) {
        return run.program(fixture, arguments).plan("swap").tenant(tenant).script("memory 64MiB; " + script);
    }

    /** Each batch of a worker checks the contents of its memory, so a lost or swapped byte ends the worker. */
    @ParameterizedTest
    @CsvSource({"hidden 6MiB, 2, 75", "taken 6MiB, 2, 75", "taken 4MiB; hidden 2MiB, 3, 85", "hidden 3MiB, 2, 90"})
    void programsThatEachFitRunToTheEnd(String script, int programs, int percent, TestRun run) {
        ManagerProcess manager = manager(run);
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < programs; i++) {
            workers.add(swapping(run, script, "worker", "t" + i, "ms=0", "told=1", "kernel_us=1000",
                    "bytes=" + DEVICE * percent / 100 / MIB * MIB).start());
        }
        for (RunningProgram worker : workers) {
            worker.awaitLine("ready");
        }
        Await.until("each has had its turns", PATIENCE,
                () -> manager.control().device(0).get("handovers").getAsLong() >= 3L * programs,
                () -> manager.control().device(0).toString());
        for (RunningProgram worker : workers) {
            worker.tell("");
        }
        for (RunningProgram worker : workers) {
            ProgramResult result = worker.end().exits(0);
            assertTrue(result.output().getLast().matches("done [1-9]\\d*"), result::toString);
        }
    }

    private static RunningProgram console(TestRun run, String script, String tenant) {
        RunningProgram program = swapping(run, script, "console", tenant).start();
        program.openDevice();
        return program;
    }

    private static void hold(RunningProgram program, int index, long bytes, int value) {
        assertEquals(Integer.toString(index), program.okay("alloc " + bytes));
        program.okay("fill " + index + " " + value);
        program.okay("check " + index + " " + value);
    }

    /** A program's memory is off the device, because another one has used as much; new memory has to come in together with it. */
    @ParameterizedTest
    @ValueSource(strings = {"hidden 6MiB", "taken 6MiB"})
    void aProgramGrowsWhileItsMemoryIsOut(String script, TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram grows = console(run, script, "grows");
        RunningProgram other = console(run, script, "other");
        hold(grows, 0, 36 * MIB, 1);
        hold(other, 0, 44 * MIB, 2);
        assertTrue(residency(manager, grows).get("swappedBytes").getAsLong() > 0, "all fits");
        hold(grows, 1, 16 * MIB, 3);
        grows.okay("check 0 1");
        other.okay("check 0 2");
        grows.okay("check 1 3");
        grows.quit().exits(0);
        other.okay("check 0 2");
        other.quit().exits(0);
    }

    private static JsonObject residency(ManagerProcess manager, RunningProgram program) {
        return manager.control().clientDevice(program.pid()).getAsJsonObject("residency");
    }

    /** The program gets out of memory within a bounded time, whether the driver reports the lack or not; a size that fits succeeds afterwards. */
    @ParameterizedTest
    @ValueSource(strings = {"hidden 12MiB", "taken 12MiB"})
    void aFirstAllocationThatTheDeviceCannotHold(String script, TestRun run) {
        run.expectLog("is out of memory");
        run.expectLog("can be free for it");
        run.expectLine("out of memory on GPU 0: ");
        ManagerProcess manager = manager(run);
        RunningProgram other = console(run, script, "other");
        hold(other, 0, 20 * MIB, 1);
        RunningProgram large = console(run, script, "large");
        long begunNs = System.nanoTime();
        String answer = large.ask("alloc " + 60 * MIB);
        if (answer.equals("ok 0")) { // only addresses were reserved, and there is no memory for them
            assertEquals("error 2", large.ask("fill 0 1"));
            large.okay("free 0");
        } else {
            assertEquals("error 2", answer);
        }
        assertTrue(System.nanoTime() - begunNs < Duration.ofSeconds(40).toNanos(), "it took too long to say so");
        other.okay("check 0 1");
        assertTrue(large.ask("alloc " + 44 * MIB).startsWith("ok"), () -> manager.control().device(0).toString());
        large.quit().exits(0);
        other.okay("check 0 1");
        other.quit().exits(0);
    }

    /** Programs allocate and free while memory moves, between their turns and in them; each checks all of its memory. */
    @Test
    void sizesThatChangeDuringMoves(TestRun run) {
        SeededRandom random = new SeededRandom("sizesThatChangeDuringMoves");
        ManagerProcess manager = manager(run);
        List<RunningProgram> programs = List.of(console(run, "hidden 4MiB", "a"), console(run, "hidden 4MiB", "b"), console(run, "hidden 4MiB", "c"));
        int[] next = new int[programs.size()];
        List<TreeMap<Integer, Integer>> held = List.of(new TreeMap<>(), new TreeMap<>(), new TreeMap<>());
        for (int i = 0; i < programs.size(); i++) {
            hold(programs.get(i), next[i], 20 * MIB, i);
            held.get(i).put(next[i]++, i);
        }
        for (int round = 0; round < 40; round++) {
            int who = random.below(programs.size());
            RunningProgram program = programs.get(who);
            TreeMap<Integer, Integer> has = held.get(who);
            programs.get((who + 1) % programs.size()).okay("launch 2000 2"); // the other one gets a turn, while this one's memory leaves
            if (has.size() > 1 && random.below(2) == 0) {
                int index = has.lastKey();
                program.okay("free " + index);
                has.remove(index);
            } else if (has.size() < 4) {
                hold(program, next[who], (1 + random.below(10)) * MIB, round % 200);
                has.put(next[who]++, round % 200);
            }
            has.forEach((index, value) -> program.okay("check " + index + " " + value));
        }
        assertTrue(manager.control().device(0).get("handovers").getAsLong() > 0, "nobody had to give way");
        for (int i = 0; i < programs.size(); i++) {
            RunningProgram program = programs.get(i);
            held.get(i).forEach((index, value) -> program.okay("check " + index + " " + value));
            program.quit().exits(0);
        }
    }

    /** Memory of contexts and code belongs to no client, so the client that fills the device has to make room for it. */
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void aNewcomersContextFindsRoom(int newcomers, TestRun run) {
        run.expectLine("no memory for a context on device 0");
        String script = "context 2MiB";
        ManagerProcess manager = run.manager("--executors", "none", "--move-share", "50%");
        List<RunningProgram> programs = new ArrayList<>(List.of(console(run, script, "a"), console(run, script, "b")));
        hold(programs.get(0), 0, 40 * MIB, 1);
        hold(programs.get(1), 0, 40 * MIB, 2);
        for (int i = 0; i < newcomers; i++) {
            programs.add(console(run, script, "new" + i));
        }
        for (int i = 2; i < programs.size(); i++) {
            hold(programs.get(i), 0, 30 * MIB, i + 1);
        }
        for (int i = 0; i < programs.size(); i++) {
            programs.get(i).okay("check 0 " + (i + 1));
        }
        programs.forEach(program -> program.quit().exits(0));
        assertTrue(manager.control().device(0).has("handovers"));
    }

    /** More code than the reserve for it, loaded at its first use. */
    @ParameterizedTest
    @ValueSource(strings = {"code 1MiB", "code 3MiB"})
    void codeThatIsLoadedWhileOthersHoldTheDeviceFull(String script, TestRun run) {
        run.expectClientError("memory could not be examined"); // the code of the library's own kernel
        run.manager("--executors", "none", "--move-share", "50%");
        RunningProgram first = console(run, script, "first");
        RunningProgram second = console(run, script, "second");
        hold(first, 0, 44 * MIB, 1);
        hold(second, 0, 44 * MIB, 2);
        second.okay("launch 1 1");
        first.okay("launch 1 1");
        first.okay("check 0 1");
        second.okay("check 0 2");
        first.quit().exits(0);
        second.quit().exits(0);
    }
}
