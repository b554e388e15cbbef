package io.tessera.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Plan swap with {@code TESSERA_MOVE_BY=kernel}: pinned memory comes in by a kernel in turns that are exclusive, by the copy
 * engine otherwise. That it did says the trace of the moves, and where nothing else launches, the driver's count of launches.
 */
@ExtendWith(RunWatcher.class)
class SwapByKernelTest {
    private static final String DEVICE = "memory 256MiB";
    private static final Duration BOUND = Duration.ofSeconds(120);

    private static NativeCase swap(TestRun run, String program, String... arguments) {
        try {
            Files.createDirectories(run.runtimeDirectory());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return byKernel(run, run.program(program, arguments)).script(DEVICE);
    }

    private static NativeCase byKernel(TestRun run, NativeCase program) {
        return program.plan("swap").env("TESSERA_MOVE_BY", "kernel").env("TESSERA_MEMORY_WAIT_MS", "1000")
                .env("TESSERA_MOVE_TRACE", trace(run).toString());
    }

    private static NativeCase oneCase(TestRun run, String name) {
        SeededRandom random = new SeededRandom("swap_kernel " + name);
        return swap(run, "swap_kernel", name, Long.toString(random.below(1 << 30)));
    }

    private static Path trace(TestRun run) {
        return run.directory().resolve("moves.trace");
    }

    private static long traced(TestRun run, String event) {
        try (var lines = Files.lines(trace(run))) {
            return lines.filter(line -> line.contains(" " + event + " ")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Each in a process of its own: {@code swap_kernel.c} says what each one shows. It launches nothing itself. */
    @ParameterizedTest
    @ValueSource(strings = {"granted", "free", "ahead", "manager-dies", "pageable", "contexts", "registered-elsewhere",
        "contexts-beside", "captured"})
    void aKernelBringsMemoryInWhereItMay(String name, TestRun run) {
        run.expectLine("the manager is gone");
        oneCase(run, name).script(DEVICE + "; kernel tessera_copy_in 1ms; copy 1ms").start().end(BOUND).exits(0).says("done");
        assertEquals(traced(run, "by-kernel"), DriverCalls.of("cuLaunchKernel", run));
    }

    /** All pieces are whole units at addresses that suit: nothing is left to the copy engine. */
    @Test
    void inAnExclusiveTurnNothingPinnedComesByTheCopyEngine(TestRun run) {
        oneCase(run, "everything").start().end(BOUND).exits(0).says("done");
        assertTrue(DriverCalls.of("cuLaunchKernel", run) > 100, DriverCalls.of("cuLaunchKernel", run) + " launches");
        assertEquals(0, DriverCalls.of("cuMemcpyHtoDAsync_v2", run), "copies in");
        assertEquals(2, DriverCalls.of("cuModuleLoadData", run), "the program's module and ours");
    }

    /** The mover's context ended, was another's neighbour, and was left: only from the one that lives is it unloaded. */
    @Test
    void theKernelIsLoadedOnceInEachContextAndUnloadedWhereItLives(TestRun run) {
        oneCase(run, "contexts").start().end(BOUND).exits(0).says("done");
        assertEquals(4, DriverCalls.of("cuModuleLoadData", run), "the program's module, and ours in three contexts");
        assertEquals(1, DriverCalls.of("cuModuleUnload", run));
    }

    /** One line in the error log, and no other difference; {@code launches} of the kernel before. */
    @ParameterizedTest
    @CsvSource({"fail cuModuleLoadData 221 at 2, 0, 0", "missing tessera_copy_in, 0, 0",
        "fail cuLaunchKernel 701 at 6, 5, 6", "fail cuMemHostGetDevicePointer_v2 1 from 1, 0, 0"})
    void whatTheDriverRefusesIsSaidOnceAndComesByTheCopyEngine(String failure, int launches, int asked, TestRun run) {
        oneCase(run, "refused").script(DEVICE + "; " + failure).env("SWAP_KERNEL_LAUNCHES", Integer.toString(launches))
                .start().end(BOUND).exits(0).says("done");
        assertEquals(asked, DriverCalls.of("cuLaunchKernel", run));
        assertTrue(DriverCalls.of("cuMemcpyHtoDAsync_v2", run) > 0, "copies in");
    }

    /** By default, and where it is asked for, nothing is loaded or launched. */
    @ParameterizedTest
    @ValueSource(strings = {"", "engine"})
    void theCopyEngineIsTheDefault(String way, TestRun run) {
        oneCase(run, "by-engine").env("TESSERA_MOVE_BY", way).start().end(BOUND).exits(0).says("done");
        assertEngineAlone(run);
    }

    @Test
    void aWayThatIsNotKnownIsSaidAndTheDefaultHolds(TestRun run) {
        run.expectLine("TESSERA_MOVE_BY=kernels is neither engine nor kernel");
        NativeResult result = oneCase(run, "by-engine").env("TESSERA_MOVE_BY", "kernels").start().end(BOUND).exits(0)
                .says("done");
        assertEquals(1, result.libraryLines().size(), result::toString);
        assertEngineAlone(run);
    }

    private static void assertEngineAlone(TestRun run) {
        assertEquals(1, DriverCalls.of("cuModuleLoadData", run), "the program's own");
        assertEquals(0, DriverCalls.of("cuLaunchKernel", run));
        assertEquals(0, DriverCalls.of("cuMemHostGetDevicePointer_v2", run));
        assertTrue(DriverCalls.of("cuMemcpyHtoDAsync_v2", run) > 0, "copies in");
    }

    /** A thousand moves, with threads that allocate, write, check and free; all of it in pinned memory, or a part. */
    @ParameterizedTest
    @CsvSource({"4, 512, 0", "2, 48, 512"})
    void contentsSurviveManyMoves(int threads, int pinnedMib, int pageableMib, TestRun run) {
        SeededRandom random = new SeededRandom("contentsSurviveManyMoves " + pinnedMib);
        swap(run, "swap_contents", Long.toString(random.below(1 << 30)), "35", Integer.toString(threads),
                Integer.toString(pinnedMib), Integer.toString(pageableMib)).env("SWAP_ALONE", "1").start().end(BOUND)
                .exits(0).says("done");
        assertTrue(traced(run, "copy-in") > 200, traced(run, "copy-in") + " chunks came in");
        assertTrue(traced(run, "by-kernel") > 120, traced(run, "by-kernel") + " parts by a kernel");
    }

    /** Pools, captures and replays, graphs' memory: every path that has memory. */
    @Test
    void contentsSurviveForcedMovesInEveryPath(TestRun run) throws IOException {
        SeededRandom random = new SeededRandom("contentsSurviveForcedMovesInEveryPath");
        Files.createDirectories(run.runtimeDirectory());
        try (RunningCase manager = run.program("moving_manager", run.runtimeDirectory().toString())
                .with("open_us=3000", "seed=" + random.below(1 << 30)).without("LD_PRELOAD").start()
                .awaitLine("listening")) {
            NativeResult result = byKernel(run, run.program("swap_paths", "ms=1200", "threads=3",
                    "seed=" + random.below(1 << 30))).start().end(BOUND).exits(0);
            assertTrue(result.output().getLast().startsWith("done "), result::toString);
            String[] moved = manager.nextLine(Duration.ofSeconds(20)).split(" ");
            assertEquals("0", moved[4], "moves failed");
        }
        assertTrue(traced(run, "by-kernel") > 0, "nothing came by a kernel");
    }

    /** Every batch of a worker checks what it left in memory; under a whole manager, whose hand-overs grant the turn first. */
    @Test
    void trainingsThatEachNeedTheWholeDeviceHandMemoryOver(TestRun run) {
        ManagerProcess manager = run.manager("--capacity", "64MiB", "--executors", "none", "--move-share", "50%");
        List<RunningCase> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            workers.add(byKernel(run, run.program("worker", "ms=0", "told=1", "kernel_us=1000", "bytes=" + (60 << 20)))
                    .tenant("t" + i).script("memory 64MiB").start());
        }
        workers.forEach(worker -> worker.awaitLine("ready"));
        Await.until("memory is handed over", Await.PATIENCE,
                () -> manager.control().device(0).get("handovers").getAsLong() >= 6,
                () -> manager.control().device(0).toString());
        for (RunningCase worker : workers) {
            JsonObject residency = manager.control().clientDevice(worker.pid()).getAsJsonObject("residency");
            assertTrue(residency.get("movedInBytes").getAsLong() > 0, residency::toString);
        }
        workers.forEach(worker -> worker.tell(""));
        for (RunningCase worker : workers) {
            NativeResult result = worker.end().exits(0);
            assertTrue(result.output().getLast().matches("done [1-9]\\d*"), result::toString);
        }
        assertTrue(traced(run, "by-kernel") > 0, "nothing came by a kernel");
    }
}
