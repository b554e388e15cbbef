package io.tessera.system.programs;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.ManagerMain;
import io.tessera.manager.settings.OptionException;
import io.tessera.os.linux.Linux;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import io.tessera.testing.TestFolders;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A promise of the README: a variable with an invalid value is reported by the program that reads it. Every variable of its table has rows here. */
@ExtendWith(RunWatcher.class)
class WrongVariablesTest {
    /** The program that reads a variable, and reports an invalid value. */
    private enum Reader {
        /** {@code tessera run}: ends with 2 and runs nothing. */
        RUN,
        /** The library in a program: cuInit fails, with a line. */
        LIBRARY,
        /** The manager: ends with 2. */
        MANAGER
    }

    /** A variable, its readers, and invalid values, which {@code |} separates. */
    private static final String TABLE = """
            TESSERA_NAME RUN|LIBRARY %63$s
            TESSERA_MEMORY RUN|LIBRARY x|-1|9223372036854775808
            TESSERA_PLAN RUN|LIBRARY fast
            TESSERA_MEMORY_GUARANTEE RUN|LIBRARY x|-1
            TESSERA_SWAP_DIRECTORY RUN|LIBRARY /nowhere|/dev/null|/proc
            TESSERA_SWAP_FILE_BYTES RUN|LIBRARY x|-1
            TESSERA_MEMORY_WAIT_MS RUN|LIBRARY x|-1|31536000001
            TESSERA_SHARE RUN|LIBRARY both
            TESSERA_FENCE RUN|LIBRARY on
            TESSERA_UNFENCED RUN|LIBRARY refused
            TESSERA_FENCE_ALONE RUN|LIBRARY yes
            TESSERA_KERNEL_TIMEOUT RUN|LIBRARY x|0|31536001
            TESSERA_MOVE_TRACE RUN|LIBRARY /nowhere/trace|/tmp|/proc/trace
            TESSERA_TRACE RUN|LIBRARY /nowhere/trace|/tmp|/proc/trace
            TESSERA_REQUIRE RUN|LIBRARY yes
            TESSERA_DISABLE RUN yes
            TESSERA_QUIET RUN|LIBRARY yes
            TESSERA_DRIVER RUN|LIBRARY /nowhere|/tmp|/etc/passwd
            TESSERA_NVML RUN|LIBRARY /nowhere|/tmp|/etc/passwd
            TESSERA_RUNTIME_DIR RUN|LIBRARY|MANAGER here
            TESSERA_SHM_DIR RUN|MANAGER here
            TESSERA_MANAGER_TIMEOUT_MS RUN|LIBRARY x|0|31536000001
            TESSERA_EXECUTORS MANAGER amd
            TESSERA_EXECUTOR_USER MANAGER no-such-account
            TESSERA_SOFTWARE_DEVICES MANAGER x|0|17
            TESSERA_SOFTWARE_MEMORY MANAGER x|0B
            TESSERA_MANAGER_FENCE MANAGER on
            TESSERA_MANAGER_UNFENCED MANAGER refused
            TESSERA_MANAGER_FENCE_ALONE MANAGER 1
            TESSERA_MANAGER_KERNEL_TIMEOUT MANAGER x|0s
            TESSERA_WORKER_SECONDS MANAGER x|0|-1|31536001
            TESSERA_WORKER_MEMORY MANAGER x|1|999999999
            TESSERA_STATE_STORE MANAGER x
            TESSERA_FENCE_ARCHITECTURES MANAGER x|all
            TESSERA_FENCE_LOOPS MANAGER x|1|restart
            TESSERA_MODE MANAGER fast
            TESSERA_POLICY MANAGER fastest
            TESSERA_PREFER MANAGER both
            TESSERA_PLACEMENT MANAGER best|least_loaded
            TESSERA_SETTINGS MANAGER here
            TESSERA_QUANTUM MANAGER x|0ms|2h
            TESSERA_GRACE MANAGER x|0ms
            TESSERA_DRAIN_POLICY MANAGER kill
            TESSERA_CAPACITY MANAGER x|0B
            TESSERA_HOST_MEMORY MANAGER x
            TESSERA_HOST_PAGEABLE MANAGER x
            TESSERA_IDLE_EVICT MANAGER x|0s
            TESSERA_MOVE_SHARE MANAGER 5|0%%|101%%
            TESSERA_MAX_CLIENTS MANAGER x|0
            TESSERA_LOG_LEVEL MANAGER loud
            """.replace("%63$s", "n".repeat(64)).replace("%%", "%");

    /** Variables with paths, which only the scripts read; these report what is missing there: {@code RunScriptTest} and {@code FindJavaTest}. */
    private static final Set<String> PLACES = Set.of("TESSERA_JAVA", "TESSERA_JVM_FOLDERS", "TESSERA_HOME");

    private static Stream<List<String>> rows() {
        return TABLE.lines().map(line -> List.of(line.split(" ")));
    }

    private static Stream<String> cases(Reader reader) {
        return rows().filter(row -> Arrays.asList(row.get(1).split("\\|")).contains(reader.name()))
                .flatMap(row -> Stream.of(row.get(2).split("\\|")).map(value -> row.getFirst() + "=" + value));
    }

    private static Stream<String> ofRun() {
        return cases(Reader.RUN);
    }

    private static Stream<String> ofTheManager() {
        return cases(Reader.MANAGER);
    }

    private static String name(String assignment) {
        return assignment.substring(0, assignment.indexOf('='));
    }

    private static String value(String assignment) {
        return assignment.substring(assignment.indexOf('=') + 1);
    }

    @Test
    void everyVariableOfTheReadmeIsHere() throws IOException {
        String readme = Files.readString(BuildOutputs.root().resolve("README.md"));
        String table = readme.substring(readme.indexOf("## Environment"), readme.indexOf("## Permissions"));
        Set<String> named = table.lines().filter(line -> line.startsWith("| `TESSERA_")).map(line -> line.split("\\|")[1])
                .flatMap(cell -> Pattern.compile("TESSERA_[A-Z_]+").matcher(cell).results().map(found -> found.group()))
                .collect(Collectors.toCollection(TreeSet::new));
        Set<String> here = rows().map(List::getFirst).collect(Collectors.toCollection(TreeSet::new));
        here.addAll(PLACES);
        assertEquals(named, here);
    }

    private static ProgramLaunch tessera(TestRun run, String... arguments) {
        return run.command(Stream.concat(Stream.of(BuildOutputs.root().resolve("tools/tessera").toString()), Stream.of(arguments))
                .toArray(String[]::new)).without("LD_PRELOAD").without("LD_LIBRARY_PATH").env("JAVA_HOME", System.getProperty("java.home"))
                .env("TESSERA_SHM_DIR", run.segmentDirectory().toString());
    }

    @ParameterizedTest
    @MethodSource("ofRun")
    void runNamesItAndRunsNothing(String assignment, TestRun run) {
        run.expectLine(name(assignment));
        ProgramResult result = tessera(run, "run", "--no-manager", "--", "echo", "ran").env(name(assignment), value(assignment)).run().exits(2);
        assertTrue(result.output().isEmpty() && result.errors().getFirst().startsWith("tessera: " + name(assignment)), result::toString);
    }

    /** One manager for all cases: a refused program leaves nothing there. */
    @Test
    void theLibraryNamesItAndRefuses(TestRun run) {
        run.manager("--executors", "none");
        assertAll(cases(Reader.LIBRARY).map(assignment -> () -> {
            run.expectLine("^tessera: " + name(assignment) + "=");
            RunningProgram program = run.program("console").env(name(assignment), value(assignment)).start();
            program.awaitAnswer("init", "error 802");
            List<String> lines = program.quit().libraryLines();
            assertTrue(lines.size() == 1 && lines.getFirst().startsWith("tessera: " + name(assignment) + "="), () -> assignment + ": " + lines);
        }));
    }

    private static ProgramLaunch checkingManager(TestRun run) {
        return run.command(TestFolders.managerCommand(BuildOutputs.app(), "--check").toArray(String[]::new)).without("LD_PRELOAD");
    }

    @ParameterizedTest
    @MethodSource("ofTheManager")
    void theManagerNamesIt(String assignment) {
        OptionException refused = assertThrows(OptionException.class,
                () -> ManagerMain.checked(Linux.open(), List.of(), Map.of(name(assignment), value(assignment))));
        assertTrue(refused.getMessage().contains(name(assignment)), refused::getMessage);
    }

    /** One invalid value for each reader. */
    @ParameterizedTest
    @ValueSource(strings = {"TESSERA_MODE=fast", "TESSERA_EXECUTOR_USER=no-such-account", "TESSERA_WORKER_MEMORY=1"})
    void aManagerWithAWrongVariableDoesNotStart(String assignment, TestRun run) {
        ProgramResult result = checkingManager(run).env(name(assignment), value(assignment)).run().exits(2);
        assertTrue(result.errors().getFirst().contains(name(assignment)), result::toString);
        assertTrue(result.output().isEmpty(), result::toString);
    }

    /** Valid values at the bounds are not refused. */
    @Test
    void valuesAtTheBoundsAreTaken(TestRun run) throws IOException {
        Path trace = run.directory().resolve("trace");
        tessera(run, "run", "--no-manager", "--share", "space", "--", "echo", "ran").env("TESSERA_KERNEL_TIMEOUT", "31536000")
                .env("TESSERA_MANAGER_TIMEOUT_MS", "31536000000").env("TESSERA_MEMORY_WAIT_MS", "0").env("TESSERA_NAME", "n".repeat(63))
                .env("TESSERA_TRACE", trace.toString()).env("TESSERA_MOVE_TRACE", run.directory().resolve("moves").toString())
                .env("TESSERA_FENCE_ALONE", "0").run().exits(0).says("ran");
        run.manager("--executors", "none");
        run.program("linked").env("TESSERA_KERNEL_TIMEOUT", "31536000").env("TESSERA_NAME", "n".repeat(63))
                .env("TESSERA_TRACE", trace.toString()).env("TESSERA_MOVE_TRACE", run.directory().resolve("moves").toString())
                .env("TESSERA_SWAP_DIRECTORY", ".").run().exits(0).says("roundtrip");
        checkingManager(run).env("TESSERA_WORKER_SECONDS", "1").env("TESSERA_WORKER_MEMORY", "256").env("TESSERA_STATE_STORE", "file")
                .env("TESSERA_SHM_DIR", run.segmentDirectory().toString()).run().exits(0);
    }

    @Test
    void aListOfNoDeviceIsSaidToBe(TestRun run) {
        run.manager("--executors", "none");
        run.expectLine("CUDA_VISIBLE_DEVICES=99 \\(--device of tessera run\\) begins with no device of this machine");
        RunningProgram program = run.program("console").script("fail cuInit 100").env("CUDA_VISIBLE_DEVICES", "99").start();
        program.awaitAnswer("init", "error 100");
        assertEquals(1, program.quit().libraryLines().size());
        for (String hidden : List.of("", "-1")) {
            RunningProgram other = run.program("console").script("fail cuInit 100").env("CUDA_VISIBLE_DEVICES", hidden).start();
            other.awaitAnswer("init", "error 100");
            assertEquals(List.of(), other.quit().libraryLines());
        }
    }

    @Test
    void aListOfNoExecutorsDeviceIsSaidToBe(TestRun run) {
        run.manager("--executors", "software", "--software-memory", "64MiB");
        run.expectLine("CUDA_VISIBLE_DEVICES=99 ");
        RunningProgram program = run.program("console").env("TESSERA_SHARE", "space").env("CUDA_VISIBLE_DEVICES", "99").start();
        program.awaitAnswer("init", "error 100");
        assertEquals(1, program.quit().libraryLines().size());
    }
}
