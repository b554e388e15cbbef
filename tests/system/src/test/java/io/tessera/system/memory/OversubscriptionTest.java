package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tenants of plan swap that together need more memory than the device has, with real programs and a real manager. */
@ExtendWith(RunWatcher.class)
class OversubscriptionTest {
    private static final long MIB = 1L << 20;
    private static final long DEVICE = 64 * MIB;
    private static final String SCRIPT = "memory 64MiB";
    private static final Duration PATIENCE = Await.PATIENCE;

    private static ManagerProcess manager(TestRun run, String... options) {
        List<String> all = new ArrayList<>(List.of("--capacity", "64MiB", "--executors", "none", "--move-share", "50%"));
        all.addAll(List.of(options));
        return run.manager(all.toArray(String[]::new));
    }

    private static ProgramLaunch swapping(TestRun run, String fixture, String tenant, String... arguments) {
        return run.program(fixture, arguments).plan("swap").tenant(tenant).script(SCRIPT);
    }

    private static RunningProgram notebook(TestRun run, String tenant, long bytes, int mark) {
        RunningProgram program = swapping(run, "console", tenant).start();
        program.openDevice();
        assertEquals("0", program.okay("alloc " + bytes));
        program.okay("fill 0 " + mark);
        return program;
    }

    private static JsonObject residency(ManagerProcess manager, RunningProgram program) {
        return manager.control().clientDevice(program.pid()).getAsJsonObject("residency");
    }

    private static long resident(ManagerProcess manager, RunningProgram program) {
        return residency(manager, program).get("residentBytes").getAsLong();
    }

    /** Returns whether a program's memory is off the device; its words are read one by one while it may write them. */
    private static boolean isOff(ManagerProcess manager, RunningProgram program) {
        JsonObject residency = residency(manager, program);
        return residency.get("residentBytes").getAsLong() == 0 && residency.get("parked").getAsBoolean()
                && residency.get("swappedBytes").getAsLong() == 16 * MIB;
    }

    /** Each batch of a worker checks the contents of its memory, so a lost or swapped byte ends the worker. */
    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void trainingsThatEachNeedTheWholeDeviceRunToTheEnd(int tenants, TestRun run) {
        ManagerProcess manager = manager(run);
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < tenants; i++) {
            workers.add(swapping(run, "worker", "t" + i, "ms=0", "told=1", "kernel_us=1000",
                    "bytes=" + DEVICE * 96 / 100 / MIB * MIB).start());
        }
        for (RunningProgram worker : workers) {
            worker.awaitLine("ready");
        }
        Await.until("turns are taken for the sake of memory", PATIENCE, () -> {
            JsonObject device = manager.control().device(0);
            return device.get("effective").getAsString().equals("exclusive")
                    && device.get("reason").getAsString().contains("memory is short")
                    && device.get("handovers").getAsLong() >= 2L * tenants;
        }, () -> manager.control().device(0).toString());
        for (RunningProgram worker : workers) {
            worker.tell("");
        }
        for (RunningProgram worker : workers) {
            ProgramResult result = worker.end().exits(0);
            assertTrue(result.output().getLast().matches("done [1-9]\\d*"), result::toString);
        }
    }

    /**
     * While one of the two programs runs, the other one needs nearly all backing. So none may be held ahead of need, or be left in
     * partly used steps. Both work until memory was handed over more than once.
     */
    @Test
    void backingForOneIsEnoughForTwo(TestRun run) {
        ManagerProcess manager = manager(run, "--host-memory", "68MiB", "--host-pageable", "0B");
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            workers.add(swapping(run, "worker", "t" + i, "ms=0", "told=1", "wait=1", "bytes=" + 60 * MIB).start());
        }
        for (RunningProgram worker : workers) {
            worker.awaitLine("ready");
        }
        for (RunningProgram worker : workers) {
            worker.tell("go");
        }
        Await.until("memory was handed over more than once", PATIENCE,
                () -> manager.control().device(0).get("handovers").getAsLong() >= 4,
                () -> manager.control().device(0).toString());
        for (RunningProgram worker : workers) {
            worker.tell("");
        }
        for (RunningProgram worker : workers) {
            ProgramResult result = worker.end().exits(0);
            assertTrue(result.output().getLast().matches("done [1-9]\\d*"), result::toString);
        }
    }

    @Test
    void notebooksThatThinkGiveTheirMemoryToTheOneThatWorks(TestRun run) {
        ManagerProcess manager = manager(run);
        List<RunningProgram> notebooks = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            notebooks.add(notebook(run, "n" + i, 26 * MIB, i + 1));
        }
        for (int round = 0; round < 2; round++) {
            for (int i = 0; i < notebooks.size(); i++) {
                notebooks.get(i).okay("launch 1000 2");
                notebooks.get(i).okay("sync");
                notebooks.get(i).okay("check 0 " + (i + 1));
            }
        }
        long total = 0;
        for (RunningProgram notebook : notebooks) {
            total += resident(manager, notebook);
        }
        assertTrue(total <= DEVICE, total + " bytes");
        assertTrue(residency(manager, notebooks.getFirst()).get("movesOut").getAsLong() > 0);
        notebooks.forEach(notebook -> notebook.quit().exits(0));
    }

    @Test
    void evictedAndRestoredByHand(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram idle = notebook(run, "idle", 16 * MIB, 7);
        manager.control().okay("{\"request\":\"evict\",\"tenant\":\"idle\"}");
        Await.until("its memory is off the device", PATIENCE, () -> isOff(manager, idle),
                () -> residency(manager, idle).toString());
        idle.okay("check 0 7");
        Await.until("its first call brought it back", PATIENCE,
                () -> !residency(manager, idle).get("parked").getAsBoolean() && resident(manager, idle) >= 16 * MIB);
        manager.control().okay("{\"request\":\"evict\",\"tenant\":\"idle\"}");
        Await.until("it is off again", PATIENCE, () -> resident(manager, idle) == 0);
        manager.control().okay("{\"request\":\"restore\",\"tenant\":\"idle\"}");
        Await.until("it is back without a call", PATIENCE, () -> resident(manager, idle) >= 16 * MIB);
        idle.okay("check 0 7");
        idle.quit().exits(0);
    }

    /** The scripted driver blocks every call of a process that is checkpointed, as NVIDIA's does. */
    @ParameterizedTest
    @ValueSource(strings = {"swap", "plain"})
    void suspendedAndBackWithTheFirstCall(String plan, TestRun run) throws IOException {
        Path folder = Files.createDirectory(run.directory().resolve("checkpoints"));
        String script = SCRIPT + "; checkpoints " + folder;
        ManagerProcess manager = run.manager(Map.of("TESSERA_SCRIPT", script), "--capacity", "64MiB", "--executors",
                "none");
        RunningProgram idle = run.program("console").plan(plan).tenant("idle").script(script).start();
        idle.openDevice();
        idle.okay("alloc " + 16 * MIB);
        idle.okay("fill 0 7");
        manager.control().okay("{\"request\":\"evict\",\"tenant\":\"idle\",\"suspend\":true}");
        Path state = folder.resolve(Long.toString(idle.pid()));
        Await.until("the driver has checkpointed it", PATIENCE, () -> Files.exists(state) && text(state).equals("2"));
        manager.awaitLog("is suspended", PATIENCE);
        idle.okay("launch 1000 1");
        idle.okay("sync");
        idle.okay("check 0 7");
        assertFalse(Files.exists(state));
        idle.quit().exits(0);
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            return "";
        }
    }

    @Test
    void whoIsIdleForLongLeavesTheDevice(TestRun run) {
        ManagerProcess manager = manager(run, "--idle-evict", "1500ms");
        RunningProgram idle = notebook(run, "idle", 16 * MIB, 9);
        Await.until("its memory is off the device", PATIENCE, () -> isOff(manager, idle),
                () -> residency(manager, idle).toString());
        idle.okay("check 0 9");
        assertTrue(residency(manager, idle).get("movesIn").getAsLong() > 0, "its first call brought it back");
        Await.until("it is off again", PATIENCE, () -> resident(manager, idle) == 0);
        idle.okay("check 0 9");
        idle.quit().exits(0);
    }

    @Test
    void whatIsGuaranteedStaysOnTheDevice(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram guaranteed = swapping(run, "console", "g").env("TESSERA_MEMORY_GUARANTEE",
                Long.toString(32 * MIB)).start();
        guaranteed.openDevice();
        guaranteed.okay("alloc " + 26 * MIB);
        guaranteed.okay("fill 0 3");
        RunningProgram other = notebook(run, "other", 26 * MIB, 4);
        other.okay("launch 1000 2");
        other.okay("sync");
        assertEquals(32 * MIB, residency(manager, guaranteed).get("guaranteeBytes").getAsLong());
        assertTrue(resident(manager, guaranteed) >= 26 * MIB);
        run.expectLog("asks for|needs");
        guaranteed.okay("check 0 3");
        other.okay("check 0 4");
        guaranteed.quit().exits(0);
        other.quit().exits(0);
    }

    @Test
    void aClientKilledInTheMiddleOfAMoveLeavesItsMemoryToTheOthers(TestRun run) {
        ManagerProcess manager = manager(run);
        RunningProgram first = swapping(run, "worker", "first", "ms=0", "bytes=" + 60 * MIB).start();
        first.awaitLine("ready");
        RunningProgram second = swapping(run, "worker", "second", "ms=0", "iterations=30", "bytes=" + 60 * MIB).start();
        Await.until("memory moves", PATIENCE, () -> {
            JsonObject moving = residency(manager, first);
            return moving.get("movedOutBytes").getAsLong() > 0 || !moving.get("state").getAsString().equals("steady");
        });
        first.kill();
        assertEquals("done 30", second.end().exits(0).output().getLast());
    }

    /** Only the stopped process could move its memory: whoever needs the room is told so, with its name. Afterwards both go on. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStoppedClientThatHasTheMemory(boolean afterTurns, TestRun run) {
        run.expectLine("has not come back|out of memory on GPU 0: ");
        run.expectLog("is out of memory|is stopped by a signal");
        ManagerProcess manager = manager(run);
        RunningProgram stopped = notebook(run, "stopped", 40 * MIB, 5);
        RunningProgram other = afterTurns ? notebook(run, "other", 40 * MIB, 6) : swapping(run, "console", "other").start();
        if (afterTurns) {
            stopped.okay("check 0 5");
        } else {
            other.openDevice();
        }
        ProcessSignals.send(stopped.process(), ProcessSignals.STOP);
        long begunNs = System.nanoTime();
        String answer = afterTurns ? other.ask("check 0 6") : other.ask("alloc " + 40 * MIB);
        answer = afterTurns || !answer.startsWith("ok") ? answer : other.ask("fill 0 6");
        Duration waited = Duration.ofNanos(System.nanoTime() - begunNs);
        assertEquals("error 2", answer, "out of memory");
        assertTrue(waited.compareTo(Duration.ofSeconds(15)) < 0, waited::toString);
        assertTrue(manager.control().status().toString().contains("client 1 (stopped) is to give up"), () -> manager.control().status().toString());
        String line = other.errors().stream().filter(each -> each.startsWith("tessera: out of memory on GPU 0: ")).findFirst().orElse("");
        assertTrue(line.contains("client 1 (stopped) is to give up") && line.endsWith("is stopped by a signal"), () -> other.errors().toString());
        ProcessSignals.send(stopped.process(), ProcessSignals.CONT);
        if (afterTurns) {
            Await.until("it has its memory again", PATIENCE, () -> other.ask("check 0 6").equals("ok"));
        }
        stopped.okay("check 0 5");
        stopped.quit().exits(0);
        other.quit().exits(0);
    }

    /** Memory without an address cannot be copied off the device; programs that end unmap theirs before they free it. */
    @Test
    void memoryThatIsUnmappedForAMomentEndsNobody(TestRun run) {
        manager(run);
        RunningProgram ending = swapping(run, "console", "ending").start();
        ending.openDevice();
        ending.okay("create " + 40 * MIB);
        ending.okay("fill 0 5");
        RunningProgram other = notebook(run, "other", 40 * MIB, 6);
        ending.okay("check 0 5");
        ending.okay("unmap 0");
        other.tell("check 0 6");
        Await.sleep(Duration.ofMillis(400));
        assertFalse(other.hasLine(), "it has no memory yet");
        ending.okay("free 0");
        assertEquals("ok", other.nextLine(PATIENCE));
        ending.quit().exits(0);
        other.quit().exits(0);
    }

    @Test
    void aManagerKilledInTheMiddleOfAHandoverLosesNothing(TestRun run) {
        run.expectLine("running without turns until it is back|has not come back for 10 s|no manager");
        run.expectClientError("manager is gone|no manager");
        ManagerProcess manager = manager(run);
        // It still works when the second one has come, however slow the machine is.
        RunningProgram first = swapping(run, "worker", "first", "ms=0", "iterations=1000", "bytes=" + 30 * MIB).start();
        first.awaitLine("ready");
        RunningProgram second = swapping(run, "worker", "second", "ms=0", "iterations=200", "bytes=" + 50 * MIB).start();
        Await.until("memory moves", PATIENCE, () -> residency(manager, first).get("movedOutBytes").getAsLong() > 0);
        ProcessSignals.send(manager.process(), ProcessSignals.KILL);
        Await.until("the manager is gone", PATIENCE, () -> !manager.alive());
        manager(run);
        assertEquals("done 1000", first.end().exits(0).output().getLast());
        assertEquals("done 200", second.end().exits(0).output().getLast());
    }

    @Test
    void withoutRoomOnTheHostAnAllocationIsOutOfMemoryAndNothingElseBreaks(TestRun run) {
        ManagerProcess manager = manager(run, "--host-memory", "16MiB", "--host-pageable", "0B");
        RunningProgram first = notebook(run, "first", 50 * MIB, 5);
        RunningProgram second = swapping(run, "console", "second").start();
        second.openDevice();
        second.awaitAnswer("alloc " + 38 * MIB, "error 2");
        first.okay("check 0 5");
        second.okay("alloc " + 12 * MIB);
        second.okay("fill 0 6");
        second.okay("check 0 6");
        first.okay("check 0 5");
        assertTrue(manager.control().status().getAsJsonObject("host").get("pinnedBudgetBytes").getAsLong() == 16 * MIB);
        first.quit().exits(0);
        second.quit().exits(0);
    }

    /** Each allocates most of the device before it can write it: together more than the device and the host hold. */
    @Test
    void memoryAllocatedAheadOfATurnNeedsNoRoomOnTheHost(TestRun run) {
        ManagerProcess manager = run.manager("--capacity", "2GiB", "--executors", "none", "--mode", "on", "--quantum", "30s",
                "--host-memory", "256MiB", "--host-pageable", "0B");
        RunningProgram holder = preallocating(run, "holder");
        holder.okay("alloc " + 64 * MIB);
        holder.okay("fill 0 1");
        holder.okay("launch 20000000 1");
        List<RunningProgram> ahead = List.of(preallocating(run, "one"), preallocating(run, "two"));
        ahead.forEach(program -> program.okay("alloc " + 1800 * MIB));
        assertEquals(1800 * MIB, residency(manager, ahead.getLast()).get("zeroBytes").getAsLong());
        holder.kill();
        for (RunningProgram program : ahead) {
            program.okay("launch 1000 1");
            program.okay("sync");
            program.quit().exits(0);
        }
    }

    private static RunningProgram preallocating(TestRun run, String tenant) {
        RunningProgram program = run.program("console").plan("swap").tenant(tenant).script("memory 2GiB").start();
        program.openDevice();
        return program;
    }

    @Test
    void whatTheHostCannotHoldGoesToAFile(TestRun run) {
        ManagerProcess manager = manager(run, "--host-memory", "0B", "--host-pageable", "0B");
        List<RunningProgram> programs = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            RunningProgram program = swapping(run, "console", "f" + i).env("TESSERA_SWAP_DIRECTORY",
                    run.sharedMemory().toString()).env("TESSERA_SWAP_FILE_BYTES", Long.toString(1024 * MIB)).start();
            program.openDevice();
            program.okay("alloc " + 40 * MIB);
            program.okay("fill 0 " + (i + 1));
            programs.add(program);
        }
        programs.getFirst().okay("check 0 1");
        programs.getLast().okay("check 0 2");
        long inFiles = 0;
        for (RunningProgram program : programs) {
            inFiles += residency(manager, program).get("fileBytes").getAsLong();
        }
        assertTrue(inFiles > 0, inFiles + " bytes in files");
        programs.forEach(program -> program.quit().exits(0));
    }

    /** cuMemGetInfo, the library's replacement for NVML, and the status agree on the device's size. */
    @Test
    void everybodyIsToldTheSameSize(TestRun run) {
        ManagerProcess manager = run.manager("--capacity", "32MiB", "--executors", "none");
        RunningProgram program = swapping(run, "console", "sized").env("TESSERA_MEMORY_WAIT_MS", "600000").start();
        program.openDevice();
        program.okay("alloc " + 8 * MIB);
        Await.until("the size is the manager's", PATIENCE, () -> program.okay("info").endsWith(" " + 32 * MIB));
        assertEquals(24 * MIB + " " + 32 * MIB, program.okay("info"));
        JsonObject memory = manager.control().device(0).getAsJsonObject("memory");
        assertEquals(32 * MIB, memory.get("capacityBytes").getAsLong());
        assertEquals(8 * MIB, memory.get("usedBytes").getAsLong());
        program.awaitAnswer("alloc " + 25 * MIB, "error 2"); // an allocation that can never fit fails at once
        program.okay("alloc " + 24 * MIB);
        program.quit().exits(0);
    }
}
