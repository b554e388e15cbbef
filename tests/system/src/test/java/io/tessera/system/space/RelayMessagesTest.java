package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lines of README.md's table "What programs are told" that a program in space sharing can cause. */
@ExtendWith(RunWatcher.class)
class RelayMessagesTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final String PROFILER = "a profiler sees no kernels of a program in space sharing: they run in the executor; use --share time for profiling";

    private static ProgramLaunch relayed(TestRun run, String mode) {
        return run.program("relay_told", mode, BuildOutputs.fixture("libcupti.so.13").toString()).env("TESSERA_SHARE", "space");
    }

    private static long count(ProgramResult result, String line) {
        Pattern expected = Pattern.compile(Pattern.quote("tessera: ") + line);
        return result.libraryLines().stream().filter(said -> expected.matcher(said).matches()).count();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            grid  | a grid of 2147483647 x 65535 x 1 blocks of 1 x 1 x 1 threads; in space sharing a launch has at most 2^31 blocks and 2^37 threads; \
            launch several smaller grids
            stack | a stack of 131072 bytes is more than the 65536 that a program in space sharing may set (cudaDeviceSetLimit); set less, \
            or run the program with --share time
            depth | graphs lie in graphs 32 deep at most; add the nodes of the innermost ones to the graphs around them
            descriptors | 8388608 bytes of pinned memory are refused: this program may open 0 descriptors, and has none left for them; \
            close files, or raise the limit (ulimit -n)
            code  | kernel lacking: the software GPU has no tcgen05.fence::before_thread_sync (line 4, in lacking); run the program on a machine with a GPU
            """)
    void aBoundIsToldOnce(String mode, String line, TestRun run) {
        run.sharedManager("--executors", "software");
        run.expectLine(Pattern.quote(line));
        run.expectClientError("");
        ProgramResult result = relayed(run, mode).start().end(BOUND).exits(0).says(mode + " ok");
        assertEquals(1, result.libraryLines().size(), result::toString);
    }

    /** There is one line for a family of entries that programs use together. */
    @Test
    void whatSpaceSharingDoesNotHaveIsToldOnceForEachReason(TestRun run) {
        run.sharedManager("--executors", "software");
        run.expectLine("is not supported in space sharing");
        run.expectClientError("is not supported in space sharing");
        ProgramResult result = relayed(run, "unsupported").run().exits(0).says("unsupported ok");
        assertEquals(1,
                count(result, "cuImportExternalMemory is not supported in space sharing \\(external memory and semaphores cannot be relayed\\); "
                        + "run the program with --share time"),
                result::toString);
        assertEquals(1, count(result, "cuGreenCtxCreate is not supported in space sharing \\(green contexts cannot be relayed\\); "
                + "run the program with --share time"), result::toString);
        assertEquals(2, result.libraryLines().size(), result::toString);
    }

    @Test
    void aQuestionIsAnsweredWithoutALine(TestRun run) {
        run.sharedManager("--executors", "software");
        run.expectClientError("cuMulticastGetGranularity is not supported in space sharing");
        ProgramResult result = relayed(run, "question").run().exits(0).says("question ok");
        assertEquals(0, result.libraryLines().size(), result::toString);
    }

    @Test
    void aProfilerThatBeginsIsToldThatItSeesNoKernels(TestRun run) {
        run.sharedManager("--executors", "software");
        run.expectLine(PROFILER);
        ProgramResult result = relayed(run, "profiler").run().exits(0).says("profiler ok");
        assertEquals(1, count(result, PROFILER), result::toString);
    }

    /** PyTorch is always linked with CUPTI, which does not mean that a user profiles. */
    @Test
    void aLibraryOfAProfilerThatIsOnlyLoadedIsNotSpokenOf(TestRun run) {
        run.sharedManager("--executors", "software");
        ProgramResult result = relayed(run, "loaded").run().exits(0).says("loaded ok");
        assertEquals(0, result.libraryLines().size(), result::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"})
    void aProfilerThatTheEnvironmentNamesIsToldSoAtTheStart(String variable, TestRun run) {
        run.sharedManager("--executors", "software");
        run.expectLine(PROFILER);
        ProgramResult result = relayed(run, "profiler").env(variable, "/nowhere/libToolsInjection64.so").run().exits(0).says("profiler ok");
        assertEquals(1, count(result, PROFILER), result::toString);
    }
}
