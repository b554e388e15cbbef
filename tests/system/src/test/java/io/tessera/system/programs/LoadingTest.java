package io.tessera.system.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** All ways in which programs load the library: linked, opened by name or path, looked up, before main; and the cost of its presence. */
@ExtendWith(RunWatcher.class)
class LoadingTest {
    private static String owner() {
        return "owner " + BuildOutputs.preload();
    }

    @Test
    void linkTimeDependencyIsOurs(TestRun run) {
        run.sharedManager();
        run.program("linked").run().exits(0).says(owner()).says("roundtrip");
    }

    @Test
    void programsThemselvesWorkWithoutTheLibrary(TestRun run) {
        run.program("linked").natively().run().exits(0).says("roundtrip");
        run.program("memory").natively().run().exits(0);
        run.program("process", "fork-after").natively().run().exits(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"libcuda.so.1", "libcuda.so"})
    void opensByNameAreOurs(String name, TestRun run) {
        run.sharedManager();
        run.program("dynamic", name).run().exits(0).says(name + " " + owner()).says("done");
    }

    @Test
    void opensOfTheDriversFileAreOurs(TestRun run) {
        run.sharedManager();
        String path = run.driverFolder().resolve("libcuda.so.1").toString();
        run.program("dynamic", path).run().exits(0).says(path + " " + owner()).says("done");
    }

    @Test
    void libraryStaysUsableAfterDlclose(TestRun run) {
        run.sharedManager();
        run.program("dynamic", "libcuda.so.1", "libcuda.so", "libcuda.so.1", "libcuda.so.1").run().exits(0)
                .says("done");
    }

    @Test
    void lookupsAnswerAsTheDriverDoesAndTablesComeUntouched(TestRun run) {
        ProgramResult result = run.program("lookup", BuildOutputs.scriptedDriver().toString(),
                BuildOutputs.lookupVersions().toString()).run().exits(0);
        String[] words = result.output().getLast().split(" ");
        assertTrue(Long.parseLong(words[1]) > 30_000, result::toString); // lookups
        assertTrue(Long.parseLong(words[3]) > 10_000, result::toString); // lookups that were answered with an export of the library
    }

    @Test
    void constructorsMayUseCudaBeforeOrAfterOurs(TestRun run) {
        run.sharedManager();
        Path library = BuildOutputs.fixture("constructor_library.so");
        for (String order : new String[] {library + ":" + BuildOutputs.preload(),
                BuildOutputs.preload() + ":" + library}) {
            run.program("idle").env("LD_PRELOAD", order).run().exits(0).says("constructor");
        }
    }

    @Test
    void programWithoutCudaIsLeftAlone(TestRun run) {
        run.sharedManager();
        ProgramResult with = run.program("idle").run().exits(0);
        ProgramResult without = run.program("idle").without("LD_PRELOAD").without("LD_LIBRARY_PATH").run().exits(0);
        assertEquals(without.output().getFirst().replace("library 0", "library 1"), with.output().getFirst());
        assertTrue(with.output().getFirst().startsWith("tasks 1 "), with::toString);
        assertTrue(with.output().getFirst().contains("driver 0 segments 0"), with::toString);
        assertTrue(with.errors().isEmpty(), with::toString);
    }

    /** System calls are counted instead of timed: each costs well under 10 us, so 60 more of them take less than a millisecond. */
    @Test
    void loadingCostsFewSystemCallsAndNoneOfTheWrongKind(TestRun run) {
        ProgramResult with = counted(run.program("syscalls", BuildOutputs.fixture("idle").toString()));
        ProgramResult without = counted(run.program("syscalls", BuildOutputs.fixture("idle").toString())
                .env("LD_PRELOAD_OF_CHILD", ""));
        long more = number(with, "all") - number(without, "all");
        assertTrue(more > 0 && more <= 60, () -> more + " more system calls: " + with + without);
        assertEquals(number(without, "socket"), number(with, "socket"));
        assertEquals(number(without, "clone"), number(with, "clone"));
    }

    private static ProgramResult counted(ProgramLaunch program) {
        // The tracer itself runs without the library, and makes the traced program load it.
        return program.without("LD_PRELOAD").run().exits(0);
    }

    private static long number(ProgramResult result, String kind) {
        String line = result.output().getLast();
        String[] words = line.split(" ");
        for (int i = 0; i + 1 < words.length; i++) {
            if (words[i].equals(kind)) {
                return Long.parseLong(words[i + 1]);
            }
        }
        throw new AssertionError(kind + " is missing from " + line);
    }

    @Test
    void aLibraryThatIsNoDriverIsOneLineAndNoDevice(TestRun run) {
        run.expectLine("programs see no GPU");
        ProgramResult result = run.program("console").env("TESSERA_DRIVER", BuildOutputs.fixture("console").toString()).start()
                .awaitAnswer("init", "error 100").quit();
        assertEquals(1, result.libraryLines().size(), result::toString);
    }

    @Test
    void driverWithoutDevicesIsPassedOn(TestRun run) {
        run.sharedManager();
        run.program("console").script("devices 0").start().awaitAnswer("init", "error 100").quit().exits(0);
    }

    @Test
    void absentManagerIsOneLineAndANativeRun(TestRun run) {
        run.expectLine("no manager");
        ProgramResult result = run.program("linked").run().exits(0).says("roundtrip");
        assertEquals(1, result.libraryLines().size(), result::toString);
        ProgramResult quiet = run.program("linked").env("TESSERA_QUIET", "1").run().exits(0);
        assertTrue(quiet.errors().isEmpty(), quiet::toString);
    }

    @Test
    void requiredManagerThatIsAbsentMakesInitFail(TestRun run) {
        run.expectLine("TESSERA_REQUIRE is set: CUDA is refused");
        RunningProgram program = run.program("console").env("TESSERA_REQUIRE", "1").start();
        program.awaitAnswer("init", "error 802");
        ProgramResult result = program.quit();
        assertEquals(1, result.libraryLines().size(), result::toString);
    }

    /** A misspelled fence must not mean that there is no fence. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"TESSERA_UNFENCED|refused|one of refuse, time, trusted, own", "TESSERA_PLAN|fast|one of managed",
            "TESSERA_MEMORY|9223372036854775808|a whole number from 0", "TESSERA_MEMORY_GUARANTEE|-1|a whole number from 0",
            "TESSERA_SHARE|both|one of time, space", "TESSERA_KERNEL_TIMEOUT|1s|a whole number from 1",
            "TESSERA_KERNEL_TIMEOUT|0|a whole number from 1", "TESSERA_FENCE_ALONE|yes|1, or 0", "TESSERA_QUIET|2|1, or 0",
            "TESSERA_MANAGER_TIMEOUT_MS|0|a whole number from 1"})
    void aWrongVariableMakesInitFailAndIsNamed(String variable, String value, String accepted, TestRun run) {
        run.sharedManager();
        run.expectLine(variable + "=" + value + ": " + accepted);
        RunningProgram program = run.program("console").env(variable, value).start();
        program.awaitAnswer("init", "error 802");
        ProgramResult result = program.quit();
        assertEquals(1, result.libraryLines().size(), result::toString);
    }

    @Test
    void disabledLibraryOnlyPassesThrough(TestRun run) throws Exception {
        run.sharedManager();
        run.program("memory").env("TESSERA_DISABLE", "1").run().exits(0);
        assertTrue(Files.list(run.segmentDirectory()).findAny().isEmpty());
        assertTrue(run.segments().errors().isEmpty());
    }

    @Test
    void programFindsAManagerThatStartsLater(TestRun run) {
        run.expectLine("no manager");
        run.expectLine("manager");
        RunningProgram worker = run.program("worker", "ms=0", "kernel_us=500").start().awaitLine("ready");
        ManagerProcess manager = run.manager();
        Await.until("the program registers", Await.PATIENCE, () -> !manager.control().clients().isEmpty());
        assertEquals(worker.pid(), manager.control().clients().getFirst().get("pid").getAsLong());
        worker.kill();
    }
}
