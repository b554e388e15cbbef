package io.tessera.system.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.system.Await;
import io.tessera.system.ProgramLaunch;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Plan swap: memory leaves the device and comes back while programs allocate, write and check it. A manager inside the program
 * ({@code residency_manager.h}) gives turns and targets. Without a GPU.
 */
@ExtendWith(RunWatcher.class)
class SwapTest {
    private static final String DEVICE = "memory 256MiB";
    private static final Duration BOUND = Duration.ofSeconds(120);

    private static ProgramLaunch swap(TestRun run, String program, String... arguments) {
        try {
            Files.createDirectories(run.runtimeDirectory());
            Files.deleteIfExists(run.runtimeDirectory().resolve("manager.sock"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return run.program(program, arguments).plan("swap").script(DEVICE).env("TESSERA_MEMORY_WAIT_MS", "1000");
    }

    /** Gives a program a long timeout, since a busy machine may move memory slowly. */
    private static ProgramLaunch patient(ProgramLaunch program) {
        return program.env("TESSERA_MEMORY_WAIT_MS", "60000");
    }

    /** Each case runs in a process of its own; {@code swap_cases.c} says what it shows. */
    @ParameterizedTest
    @ValueSource(strings = {"lazy", "waits", "waits-over-the-end", "manager-dies", "manager-dies-full",
            "manager-returns", "frees-while-out", "contexts-end", "faulted", "forks", "told", "never-fits", "suspended"})
    void memoryComesAndGoes(String name, TestRun run) {
        run.expectLine("the manager is gone");
        ProgramLaunch program = swap(run, "swap_cases", name);
        if (name.equals("manager-dies")) {
            patient(program);
        }
        if (name.startsWith("manager-dies")) { // otherwise gates keep their state for as long as tests wait for a manager
            program.env("TESSERA_MANAGER_TIMEOUT_MS", "1000");
        }
        program.start().end(BOUND).exits(0).says("done");
    }

    @Test
    void aSuspendedProcessOfPlanPlainSaysSo(TestRun run) {
        swap(run, "swap_cases", "suspended").plan("plain").start().end(BOUND).exits(0).says("done");
    }

    /** The same for {@code swap_kept.c}. */
    @ParameterizedTest
    @ValueSource(strings = {"captured", "graph-nodes", "fixed", "own-memory", "exported"})
    void graphsAndTheProgramsOwnMemoryKeepTheirContents(String name, TestRun run) {
        swap(run, "swap_kept", name).start().end(BOUND).exits(0).says("done");
    }

    /** Hundreds of moves, in every tier of host memory, with threads that allocate and free during hand-overs. */
    @ParameterizedTest
    @CsvSource({"4, 512, 0", "2, 0, 512", "3, 32, 48", "2, 16, 0"})
    void contentsSurviveMovesThroughEveryTier(int threads, int pinnedMib, int pageableMib, TestRun run) {
        SeededRandom random = new SeededRandom("contentsSurviveMovesThroughEveryTier " + threads);
        patient(swap(run, "swap_contents", Long.toString(random.below(1 << 30)), "16", Integer.toString(threads),
                Integer.toString(pinnedMib), Integer.toString(pageableMib)))
                .env("TESSERA_SWAP_DIRECTORY", run.directory().toString()).start().end(BOUND).exits(0).says("done");
        assertEquals(0, filesLeft(run.directory()), "swap files are unlinked");
    }

    private static long filesLeft(Path directory) {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.getFileName().toString().contains("swap")).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Memory for which the host has no room stays on the device. */
    @ParameterizedTest
    @CsvSource({"0, 0, 0", "16, 8, 20000000"})
    void hostBudgetsThatAreExhaustedCostNoContents(int pinnedMib, int pageableMib, long fileBytes, TestRun run) {
        SeededRandom random = new SeededRandom("hostBudgetsThatAreExhaustedCostNoContents " + pinnedMib);
        ProgramLaunch program = swap(run, "swap_contents", Long.toString(random.below(1 << 30)), "12", "3",
                Integer.toString(pinnedMib), Integer.toString(pageableMib)).env("SWAP_CANNOT_LEAVE", "1");
        if (fileBytes > 0) {
            program.env("TESSERA_SWAP_DIRECTORY", run.directory().toString())
                    .env("TESSERA_SWAP_FILE_BYTES", Long.toString(fileBytes));
        }
        program.start().end(BOUND).exits(0).says("done");
    }

    /** A full disk, or a file that may not grow, does not lose contents; {@code swap_disk.c} says what each case shows. */
    @ParameterizedTest
    @ValueSource(strings = {"limited", "full"})
    void whatADiskHasNoRoomForStaysOnTheDevice(String name, TestRun run) {
        run.expectLine("tried again, nothing is lost");
        swap(run, "swap_disk", name).env("TESSERA_SWAP_DIRECTORY", run.directory().toString()).start().end(BOUND)
                .exits(0).says("done");
    }

    /** Each kind of call that a move needs fails once, at some point. The state stays as it was, and the move is tried again. */
    @Test
    void failuresOfTheDriverKeepTheOldState(TestRun run) {
        SeededRandom random = new SeededRandom("failuresOfTheDriverKeepTheOldState");
        run.expectLine("tried again, nothing is lost");
        StringBuilder script = new StringBuilder(DEVICE);
        for (String call : new String[] {"cuMemcpyDtoHAsync_v2 999", "cuMemcpyHtoDAsync_v2 999", "cuMemCreate 2",
                "cuMemUnmap 999", "cuMemRelease 999", "cuEventRecord 999", "cuEventQuery 999"}) {
            script.append("; fail ").append(call).append(" at ").append(20 + random.below(60));
        }
        script.append("; fail cuMemHostRegister_v2 2 at 1");
        swap(run, "swap_contents", Long.toString(random.below(1 << 30)), "10", "3", "300", "300")
                .script(script.toString()).start().end(BOUND).exits(0).says("done");
    }

    /** A page change that hangs, on the way out or on the way in, does not delay other chunks. */
    @Test
    void stepsOfMovesOverlap(TestRun run) {
        Path out = run.directory().resolve("out");
        Path in = run.directory().resolve("in");
        swap(run, "swap_overlap", "page-change-hangs").env("HANG_OUT", out.toString()).env("HANG_IN", in.toString())
                .script(DEVICE + "; hang cuMemUnmap at 1 until " + out + "; hang cuMemCreate at 9 until " + in)
                .start().end(BOUND).exits(0).says("done");
    }

    @Test
    void copiesThatFailBesideACaptureDoNotBreakIt(TestRun run) {
        run.expectLine("tried again, nothing is lost");
        // At least one of these copies is of contents; the others may be of keys of the kernel that examines memory.
        swap(run, "swap_overlap", "captured").script(DEVICE + "; fail cuMemcpyHtoDAsync_v2 999 at 6; fail"
                + " cuMemcpyHtoDAsync_v2 999 at 8; fail cuEventQuery 999 at 60").start().end(BOUND).exits(0).says("done");
    }

    /** A program that is killed in the middle of a move leaves nothing behind: the next one gets the whole device. */
    @Test
    void killedInTheMiddleOfAMoveLeavesNothing(TestRun run) {
        SeededRandom random = new SeededRandom("killedInTheMiddleOfAMoveLeavesNothing");
        for (int i = 0; i < 3; i++) {
            RunningProgram killed = swap(run, "swap_contents", Long.toString(random.below(1 << 30)), "100000", "3")
                    .start();
            killed.awaitLine("working");
            Await.sleep(Duration.ofMillis(random.below(150)));
            killed.kill();
        }
        swap(run, "swap_cases", "frees-while-out").start().end(BOUND).exits(0).says("done");
    }

    /** Without a manager nothing moves, and everything works as under plan plain. */
    @Test
    void everyPathWorksWithoutAManager(TestRun run) {
        run.expectLine("no manager");
        run.program("memory").plan("swap").run().exits(0).says("done");
    }
}
