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
 * Plan swap: memory leaves the device and comes back under programs that allocate, write and check all the while, with
 * a manager of the program's own ({@code residency_manager.h}) that orders turns and targets. Without a GPU.
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

    /** Memory may come back as slowly as a busy machine moves it. */
    private static ProgramLaunch patient(ProgramLaunch program) {
        return program.env("TESSERA_MEMORY_WAIT_MS", "60000");
    }

    /** Each in a process of its own: {@code swap_cases.c} says what each one shows. */
    @ParameterizedTest
    @ValueSource(strings = {"lazy", "waits", "waits-over-the-end", "manager-dies", "manager-dies-full",
            "manager-returns", "frees-while-out", "contexts-end", "faulted", "forks", "told", "never-fits", "suspended"})
    void memoryComesAndGoes(String name, TestRun run) {
        run.expectLine("the manager is gone");
        ProgramLaunch program = swap(run, "swap_cases", name);
        if (name.equals("manager-dies")) {
            patient(program);
        }
        if (name.startsWith("manager-dies")) { // else gates keep their state for as long as tests wait for a manager
            program.env("TESSERA_MANAGER_TIMEOUT_MS", "1000");
        }
        program.start().end(BOUND).exits(0).says("done");
    }

    @Test
    void aSuspendedProcessOfPlanPlainSaysSo(TestRun run) {
        swap(run, "swap_cases", "suspended").plan("plain").start().end(BOUND).exits(0).says("done");
    }

    /** The same of {@code swap_kept.c}. */
    @ParameterizedTest
    @ValueSource(strings = {"captured", "graph-nodes", "fixed", "own-memory", "exported"})
    void graphsAndTheProgramsOwnMemoryKeepTheirContents(String name, TestRun run) {
        swap(run, "swap_kept", name).start().end(BOUND).exits(0).says("done");
    }

    /** Moves by the hundred, in every host tier, with threads that allocate and free during hand-overs. */
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

    /** Memory that does not find room on the host stays on the device. */
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

    /** A disk that is full, or a file that may not grow, costs no contents; {@code swap_disk.c} says what each one shows. */
    @ParameterizedTest
    @ValueSource(strings = {"limited", "full"})
    void whatADiskHasNoRoomForStaysOnTheDevice(String name, TestRun run) {
        run.expectLine("tried again, nothing is lost");
        swap(run, "swap_disk", name).env("TESSERA_SWAP_DIRECTORY", run.directory().toString()).start().end(BOUND)
                .exits(0).says("done");
    }

    /** Each kind of call that moving needs fails once, somewhere; the state before stays, and it is tried again. */
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

    /** A page change that hangs, on the way out and on the way in, holds up no other chunk. */
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
        // At least one of these copies is of contents, the others may be of keys of the kernel that looks at memory.
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

    /** Without a manager nothing moves, and everything is as under plan plain. */
    @Test
    void everyPathWorksWithoutAManager(TestRun run) {
        run.expectLine("no manager");
        run.program("memory").plan("swap").run().exits(0).says("done");
    }
}
