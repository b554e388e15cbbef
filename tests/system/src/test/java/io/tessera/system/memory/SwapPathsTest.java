package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.DriverCallCounts;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Plan swap for every way to allocate, and the prefetch of plan managed: order and figures of pools, captures, memory that cannot
 * move; and contents, while a manager takes all memory away and gives it back every few milliseconds.
 */
@ExtendWith(RunWatcher.class)
class SwapPathsTest {
    private static final String DEVICE = "memory 256MiB; devices 2";

    @ParameterizedTest
    @CsvSource({"swap_pools, order", "swap_pools, reuse", "swap_pools, unmoved", "swap_pools, streams",
            "swap_pools, captures", "swap_pools, capture_beside", "swap_pools, capture_broken", "swap_fixed, fixed",
            "swap_fixed, peers", "swap_fixed, refused", "swap_fixed, ipc", "swap_fixed, ipc_absent"})
    void situationUnderPlanSwap(String program, String situation, TestRun run) {
        situation(run, program, situation, "swap").says("done");
    }

    @Test
    void memoryThatTheDriverCannotExportMakesTheProcessPlain(TestRun run) {
        run.expectLine("exports GPU memory");
        runtimeDirectory(run);
        ProgramResult result = run.program("swap_fixed", "ipc_refused").plan("swap")
                .script(DEVICE + "; fail cuMemCreate 801 at 2").run().exits(0).says("done");
        assertEquals(1, result.libraryLines().size(), result::toString);
    }

    /** Threads export memory that is in use for the first time, while everything else moves. */
    @ParameterizedTest
    @CsvSource({"1073741824, 3000", "0, 500"})
    void exportsUnderForcedMoves(long pinned, int openUs, TestRun run) {
        SeededRandom random = new SeededRandom("exportsUnderForcedMoves " + pinned);
        try (RunningProgram manager = movingManager(run, "open_us=" + openUs, "seed=" + random.below(1 << 30),
                "pinned=" + pinned)) {
            ProgramResult result = run.program("swap_exports", "ms=500", "threads=3", "seed=" + random.below(1 << 30))
                    .plan("swap").script("memory 256MiB").run().exits(0);
            assertTrue(result.output().getLast().startsWith("done "), result::toString);
            assertMoved(manager, random);
        }
    }

    /** The calls that recreate memory of two chunks fail, for the copy and at the program's address. */
    @ParameterizedTest
    @ValueSource(strings = {"cuMemCreate 999 at 4", "cuMemAddressReserve 2 at 2", "cuMemMap 2 at 3", "cuMemMap 2 at 4",
            "cuMemMap 2 at 6", "cuMemSetAccess 1 at 4", "cuMemcpyDtoDAsync_v2 719 at 2", "cuMemUnmap 1 at 2"})
    void exportThatTheDriverFailsKeepsContents(String failure, TestRun run) {
        run.expectLine("stood in the way for too long"); // for the cases that fail for lack of memory
        runtimeDirectory(run);
        run.program("swap_fixed", "ipc_failing").plan("swap").script(DEVICE + "; fail " + failure).run().exits(0)
                .says("done");
    }

    @Test
    void exportedMemoryThatIsInUse(TestRun run) {
        run.expectLine("stood in the way for too long");
        runtimeDirectory(run);
        run.program("swap_fixed", "ipc_busy").plan("swap").script(DEVICE).env("TESSERA_MEMORY_WAIT_MS", "400").run()
                .exits(0).says("done");
    }

    @Test
    void planAutoIsPlainOnceAProgramUsesSeveralDevices(TestRun run) {
        situation(run, "swap_fixed", "several", "auto").says("done");
    }

    @Test
    void planAutoIsPlainWhereDevicesAreApart(TestRun run) {
        runtimeDirectory(run);
        run.program("swap_fixed", "apart").plan("auto").script(DEVICE + "; fail cuDeviceCanAccessPeer 101").run().exits(0)
                .says("done");
    }

    @Test
    void managedMemoryIsFetchedBeforeTheGateOpens(TestRun run) {
        situation(run, "swap_fixed", "prefetch", "managed").says("done");
    }

    /** Threads allocate, free, capture and replay while everything moves, into each tier of host memory. */
    @ParameterizedTest
    @CsvSource({"1073741824, 1073741824, 5000", "0, 1073741824, 3000", "33554432, 1073741824, 1000"})
    void contentsSurviveForcedMovesInEveryPath(long pinned, long pageable, int openUs, TestRun run) {
        SeededRandom random = new SeededRandom("contentsSurviveForcedMovesInEveryPath " + pinned);
        try (RunningProgram manager = movingManager(run, "open_us=" + openUs, "seed=" + random.below(1 << 30),
                "pinned=" + pinned, "pageable=" + pageable)) {
            ProgramResult result = run.program("swap_paths", "ms=1200", "threads=3", "seed=" + random.below(1 << 30))
                    .plan("swap").run().exits(0);
            assertTrue(result.output().getLast().startsWith("done "), result::toString);
            assertMoved(manager, random);
        }
    }

    /** The program that checks the driver's answers makes all its calls while its memory moves. */
    @Test
    void factsAboutMemoryAreTheSameUnderForcedMoves(TestRun run) {
        SeededRandom random = new SeededRandom("factsAboutMemoryAreTheSameUnderForcedMoves");
        try (RunningProgram _ = movingManager(run, "open_us=500", "seed=" + random.below(1 << 30))) {
            run.program("memory").plan("swap").run().exits(0).says("done");
        }
    }

    /** The same program with the driver's own memory, which shows that its expectations are those of CUDA. */
    @Test
    void sameProgramRunsPlain(TestRun run) {
        SeededRandom random = new SeededRandom("sameProgramRunsPlain");
        run.manager();
        run.program("swap_paths", "ms=400", "careful=1", "seed=" + random.below(1 << 30)).run().exits(0);
    }

    /** Two tenants whose pools hold 0.9 of the device each, and a third one that uses everything at once. */
    @Test
    void tenantsWhosePoolsNeedTheWholeDeviceEachKeepTheirContents(TestRun run) {
        SeededRandom random = new SeededRandom("tenantsWhosePoolsNeedTheWholeDeviceEachKeepTheirContents");
        ManagerProcess manager = run.manager("--capacity", "64MiB", "--executors", "none", "--move-share", "50%");
        RunningProgram first = tenant(run, "first");
        RunningProgram second = tenant(run, "second");
        RunningProgram third = run.program("swap_paths", "ms=2500", "threads=2", "slots=4", "largest=1048576",
                "seed=" + random.below(1 << 30)).plan("swap").tenant("third").script(DEVICE).start();
        for (int round = 1; round <= 4; round++) {
            for (RunningProgram program : List.of(first, second)) {
                for (int i = 0; i < 3; i++) {
                    program.okay("check " + i + " " + (round * 10 + i));
                    program.okay("fill " + i + " " + ((round + 1) * 10 + i));
                }
                program.okay("launch 1000 2");
                program.okay("sync");
            }
        }
        assertTrue(third.end().exits(0).output().getLast().startsWith("done "));
        JsonObject residency = manager.control().clientDevice(first.pid()).getAsJsonObject("residency");
        assertTrue(residency.get("movesOut").getAsLong() > 0, residency::toString);
        first.quit().exits(0);
        second.quit().exits(0);
    }

    @Test
    void managedTenantsFetchTheirMemoryWhenTheirTurnsBegin(TestRun run) {
        run.manager("--mode", "on", "--quantum", "20ms");
        List<RunningProgram> workers = List.of("a", "b").stream().map(label -> run.program("worker", "ms=0", "bytes=8388608")
                .plan("managed").tenant(label).start().awaitLine("ready")).toList();
        Await.until("several turns began with a prefetch", Duration.ofSeconds(30),
                () -> DriverCallCounts.of("cuMemPrefetchAsync", run) >= 6); // the workers do not call it themselves
        workers.forEach(RunningProgram::kill);
    }

    private static RunningProgram tenant(TestRun run, String label) {
        RunningProgram program = run.program("console").plan("swap").tenant(label).script(DEVICE).start();
        program.openDevice();
        for (int i = 0; i < 3; i++) {
            assertEquals(Integer.toString(i), program.okay("async " + (19L << 20)));
            program.okay("fill " + i + " " + (10 + i));
        }
        return program;
    }

    private static ProgramResult situation(TestRun run, String program, String name, String plan) {
        runtimeDirectory(run);
        return run.program(program, name).plan(plan).script(DEVICE).run().exits(0);
    }

    private static RunningProgram movingManager(TestRun run, String... options) {
        runtimeDirectory(run);
        return run.program("moving_manager", run.runtimeDirectory().toString()).with(options).without("LD_PRELOAD")
                .start().awaitLine("listening");
    }

    private static void runtimeDirectory(TestRun run) {
        try {
            Files.createDirectories(run.runtimeDirectory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Says "moved ROUNDS OUT_BYTES IN_BYTES FAILURES". */
    private static void assertMoved(RunningProgram manager, SeededRandom random) {
        String line = manager.nextLine(Duration.ofSeconds(20));
        String[] words = line.split(" ");
        assertEquals("moved", words[0], line);
        assertTrue(Long.parseLong(words[2]) > 0, () -> "nothing was moved: " + line + ", seed " + random.seed());
        assertEquals("0", words[4], () -> "moves failed: " + line + ", seed " + random.seed());
    }
}
