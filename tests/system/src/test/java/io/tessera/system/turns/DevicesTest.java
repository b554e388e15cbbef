package io.tessera.system.turns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.DriverActivity;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several devices and contexts: turns, limits and memory belong to a device, whatever its ordinal in a process. */
@ExtendWith(RunWatcher.class)
class DevicesTest {
    private static final long MIB = 1L << 20;
    /** Pieces of work that a program does on each of its devices before it is ordered to end: more than a hundred batches. */
    private static final long PIECES = 600;

    private static final int[] FIRST = {0};
    private static final int[] SECOND = {1};
    private static final int[] BOTH = {0, 1};

    private static RunningProgram console(TestRun run, String script, int ordinal) {
        RunningProgram program = run.program("console").script(script).start();
        program.okay("init");
        program.okay("context " + ordinal);
        return program;
    }

    private static RunningProgram devices(TestRun run, String script, String mode, String... ordinals) {
        return run.program("devices", mode, "300").with(ordinals).script(script).start();
    }

    private static void noOverlaps(TestRun run) {
        for (int device = 0; device < 2; device++) {
            int each = device;
            assertEquals(0, run.witness().overlaps(device),
                    () -> "device " + each + ": " + run.witness().firstOverlaps(each));
        }
    }

    /** Lets all programs work at the same time until each has done enough. Returns the batches of each program on each of its devices or contexts. */
    private static List<List<Long>> work(TestRun run, List<int[]> devices, RunningProgram... programs) {
        for (RunningProgram program : programs) {
            program.awaitLine("ready");
        }
        for (RunningProgram program : programs) {
            program.tell("");
        }
        Await.until("all work on all their devices", Await.PATIENCE, () -> IntStream.range(0, programs.length)
                .allMatch(i -> IntStream.of(devices.get(i)).allMatch(device -> run.witness().executed(programs[i].pid(), device) >= PIECES)),
                () -> Stream.of(programs).map(RunningProgram::errors).toList().toString());
        for (RunningProgram program : programs) {
            program.tell("");
        }
        return Stream.of(programs).map(program -> program.end().exits(0).output().getLast())
                .map(line -> Stream.of(line.substring("done ".length()).split(" ")).map(Long::valueOf).toList())
                .toList();
    }

    private static void allProgressed(long atLeast, List<List<Long>> batches) {
        assertTrue(batches.stream().flatMap(List::stream).allMatch(count -> count >= atLeast), batches::toString);
    }

    private static List<DriverActivity.Interval> executed(TestRun run, int device, RunningProgram program) {
        return run.witness().intervals(device).stream()
                .filter(interval -> interval.executing() && interval.pid() == program.pid()).toList();
    }

    private static boolean together(DriverActivity.Interval a, DriverActivity.Interval b) {
        return a.beginNs() < b.endNs() && b.beginNs() < a.endNs();
    }

    /** If devices shared turns, with a quantum of 20 s no program would get one while another one's work runs. */
    @Test
    void processesOnDifferentDevicesDoNotWaitForEachOther(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20s");
        RunningProgram first = console(run, "devices 2", 0);
        RunningProgram second = console(run, "devices 2", 1);
        first.okay("launch 3000000 1");
        second.okay("launch 3000000 1");
        for (int device = 0; device < 2; device++) {
            JsonObject state = manager.control().device(device);
            assertTrue(state.has("holder"), state::toString);
        }
        assertTrue(manager.control().device(0).get("holder").getAsLong() != manager.control().device(1).get("holder").getAsLong(),
                () -> manager.control().status().toString());
        first.okay("sync");
        second.okay("sync");
        assertTrue(executed(run, 0, first).stream()
                .anyMatch(a -> executed(run, 1, second).stream().anyMatch(b -> together(a, b))), "no work at once");
        noOverlaps(run);
        first.quit().exits(0);
        second.quit().exits(0);
    }

    /** A thread that waits for a turn on one device holds a turn on the other one, which still has to end. */
    @ParameterizedTest
    @ValueSource(strings = {"alternate", "threads"})
    void processOnBothDevicesTakesTurnsOnEach(String mode, TestRun run) {
        run.manager("--mode", "on", "--quantum", "20ms");
        List<List<Long>> batches = work(run, List.of(BOTH, FIRST, SECOND), devices(run, "devices 2", mode, "0", "1"),
                devices(run, "devices 2", "threads", "0"), devices(run, "devices 2", "threads", "1"));
        System.out.println(mode + ": batches " + batches);
        allProgressed(10, batches);
        noOverlaps(run);
    }

    /** Two processes that alternate in opposite directions would wait for each other for ever, if turns were locks. */
    @Test
    void processesThatCrossDoNotDeadlock(TestRun run) {
        run.manager("--mode", "on", "--quantum", "20ms");
        List<List<Long>> batches = work(run, List.of(BOTH, BOTH), devices(run, "devices 2", "alternate", "0", "1"),
                devices(run, "devices 2", "alternate", "1", "0"));
        System.out.println("crossing: batches " + batches);
        allProgressed(10, batches);
        noOverlaps(run);
    }

    @Test
    void contextsOfOneDeviceShareItsTurnAndMayBeDestroyedWhileItDrains(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "10ms");
        RunningProgram switching = devices(run, "devices 1", "contexts", "0");
        RunningProgram other = devices(run, "devices 1", "contexts", "0");
        List<List<Long>> batches = work(run, List.of(FIRST, FIRST), switching, other);
        System.out.println("contexts: batches " + batches);
        allProgressed(16, batches); // at least two contexts were destroyed in each program
        noOverlaps(run);
        for (RunningProgram program : List.of(switching, other)) {
            assertEquals(run.witness().submissions(program.pid(), 0), run.segments().submissions(program.pid()),
                    "a submission escaped");
        }
        assertTrue(manager.control().device(0).get("handovers").getAsLong() > 10, manager.log()::toString);
    }

    @Test
    void limitsAndMemoryInfoAreEachDevicesOwn(TestRun run) {
        ManagerProcess manager = run.manager();
        RunningProgram first = limited(run);
        RunningProgram second = limited(run);
        assertEquals(Long.toString(100 * MIB), first.okay("total 0"));
        assertEquals(Long.toString(64 * MIB), first.okay("total 1")); // smaller than the limit
        first.okay("context 0");
        first.okay("alloc " + 80 * MIB);
        assertEquals(20 * MIB + " " + 100 * MIB, first.okay("info"));
        first.awaitAnswer("alloc " + 40 * MIB, "error 2");
        first.okay("context 1");
        assertEquals(64 * MIB + " " + 64 * MIB, first.okay("info"));
        first.okay("alloc " + 40 * MIB);
        assertEquals(24 * MIB + " " + 64 * MIB, first.okay("info"));
        first.awaitAnswer("alloc " + 40 * MIB, "error 2");

        second.okay("context 0"); // a process of the same tenant finds on each device what the first left
        second.awaitAnswer("alloc " + 40 * MIB, "error 2");
        second.okay("alloc " + 20 * MIB);
        second.okay("context 1");
        second.okay("alloc " + 20 * MIB);
        List<Long> used = manager.control().client(first.pid()).getAsJsonArray("devices").asList().stream()
                .map(device -> device.getAsJsonObject().get("usedBytes").getAsLong()).sorted().toList();
        assertEquals(List.of(40 * MIB, 80 * MIB), used);
        first.okay("free 0"); // of device 0, while device 1 is current
        assertEquals(24 * MIB - 20 * MIB + " " + 64 * MIB, first.okay("info"));
        second.okay("context 0");
        Await.until("what the first freed is the second's", Await.PATIENCE,
                () -> second.ask("alloc " + 80 * MIB).startsWith("ok"));
        first.quit().exits(0);
        second.quit().exits(0);
    }

    private static RunningProgram limited(TestRun run) {
        RunningProgram program = run.program("console").tenant("both").memory(100 * MIB)
                .script("devices 2; memory 0 256MiB; memory 1 64MiB").start();
        program.okay("init");
        return program;
    }

    /** A device is identified by its UUID and not by its ordinal: one device under two ordinals has one lock. */
    @Test
    void ordinalsDoNotMakeDevices(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        RunningProgram straight = devices(run, "devices 2", "alternate", "0", "1");
        RunningProgram crossed = devices(run, "visible 1 0", "threads", "0", "1");
        RunningProgram only = devices(run, "visible 1", "threads", "0");
        List<List<Long>> batches = work(run, List.of(BOTH, BOTH, SECOND), straight, crossed, only);
        System.out.println("ordinals: batches " + batches);
        allProgressed(10, batches);
        noOverlaps(run);
        assertEquals(0, run.witness().submissions(only.pid(), 0));
        assertTrue(run.witness().submissions(only.pid(), 1) > 0);
        assertEquals(2, manager.control().status().getAsJsonArray("devices").size());
    }

    /** The assumption of the test above: without turns, the same programs overlap on a device. */
    @Test
    void ordinalsMeetWhenTheSchedulerIsOff(TestRun run) {
        run.manager("--mode", "off");
        work(run, List.of(SECOND, SECOND), devices(run, "devices 2", "threads", "1"), devices(run, "visible 1", "threads", "0"));
        assertTrue(run.witness().overlaps(1) > 0);
        assertEquals(0, run.witness().overlaps(0));
    }
}
