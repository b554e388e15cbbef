package io.tessera.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Plan swap for every way to allocate, and plan managed's prefetch: order and figures of pools, captures, what cannot
 * move; and contents while a manager takes all memory away and gives it back every few milliseconds.
 */
@ExtendWith(RunWatcher.class)
class SwapPathsTest {
    private static final String DEVICE = "memory 256MiB; devices 2";

    @ParameterizedTest
    @CsvSource({"swap_pools, order", "swap_pools, reuse", "swap_pools, streams", "swap_pools, captures",
        "swap_pools, capture_beside", "swap_fixed, fixed", "swap_fixed, peers"})
    void situationUnderPlanSwap(String program, String situation, TestRun run) {
        situation(run, program, situation, "swap").says("done");
    }

    @Test
    void memoryThatIsExportedByLegacyIpcMakesTheProcessPlain(TestRun run) {
        run.expectLine("exports GPU memory");
        NativeResult result = situation(run, "swap_fixed", "ipc", "swap").says("done");
        assertEquals(1, result.libraryLines().size(), result::toString);
    }

    @Test
    void managedMemoryIsFetchedBeforeTheGateOpens(TestRun run) {
        situation(run, "swap_fixed", "prefetch", "managed").says("done");
    }

    /** Threads that allocate, free, capture and replay while everything moves, into each tier of host memory. */
    @ParameterizedTest
    @CsvSource({"1073741824, 1073741824, 5000", "0, 1073741824, 3000", "33554432, 1073741824, 1000"})
    void contentsSurviveForcedMovesInEveryPath(long pinned, long pageable, int openUs, TestRun run) {
        SeededRandom random = new SeededRandom("contentsSurviveForcedMovesInEveryPath " + pinned);
        try (RunningCase manager = movingManager(run, "open_us=" + openUs, "seed=" + random.below(1 << 30),
                "pinned=" + pinned, "pageable=" + pageable)) {
            NativeResult result = run.program("swap_paths", "ms=1200", "threads=3", "seed=" + random.below(1 << 30))
                    .plan("swap").run().exits(0);
            assertTrue(result.output().getLast().startsWith("done "), result::toString);
            assertMoved(manager, random);
        }
    }

    /** Every call of the program that checks what programs are told, while its memory comes and goes. */
    @Test
    void factsAboutMemoryAreTheSameUnderForcedMoves(TestRun run) {
        SeededRandom random = new SeededRandom("factsAboutMemoryAreTheSameUnderForcedMoves");
        try (RunningCase _ = movingManager(run, "open_us=500", "seed=" + random.below(1 << 30))) {
            run.program("memory").plan("swap").run().exits(0).says("done");
        }
    }

    /** The same work with the driver's own memory: the program's expectations are CUDA's. */
    @Test
    void sameProgramRunsPlain(TestRun run) {
        SeededRandom random = new SeededRandom("sameProgramRunsPlain");
        run.manager();
        run.program("swap_paths", "ms=400", "careful=1", "seed=" + random.below(1 << 30)).run().exits(0);
    }

    private static NativeResult situation(TestRun run, String program, String name, String plan) {
        runtimeDirectory(run);
        return run.program(program, name).plan(plan).script(DEVICE).run().exits(0);
    }

    private static RunningCase movingManager(TestRun run, String... options) {
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
    private static void assertMoved(RunningCase manager, SeededRandom random) {
        String line = manager.nextLine(Duration.ofSeconds(20));
        String[] words = line.split(" ");
        assertEquals("moved", words[0], line);
        assertTrue(Long.parseLong(words[2]) > 0, () -> "nothing was moved: " + line + ", seed " + random.seed());
        assertEquals("0", words[4], () -> "moves failed: " + line + ", seed " + random.seed());
    }
}
