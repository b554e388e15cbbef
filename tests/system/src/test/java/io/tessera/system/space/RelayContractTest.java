package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The rows of native-preload/CONTRACT.md on faults, errors of asynchronous calls and limits in space sharing. */
@ExtendWith(RunWatcher.class)
class RelayContractTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final long MIB = 1 << 20;

    private static ProgramLaunch relayed(TestRun run, String mode) {
        return run.program("relay_contract", mode).env("TESSERA_SHARE", "space");
    }

    /** All clients share one context: each of them gets its error, and the next program gets another context. */
    @Test
    void aFaultIsEverybodysAndTheNextProgramRuns(TestRun run) {
        run.manager("--executors", "nvidia");
        run.expectLog("executor");
        run.expectClientError("");
        run.expectLine("the executor is gone: every later CUDA call fails");
        RunningProgram bystander = relayed(run, "bystander").start();
        assertEquals("ready", bystander.nextLine(BOUND));
        relayed(run, "fault").run().exits(0).says("faulted");
        bystander.tell("go");
        bystander.end(BOUND).exits(0).says("told");
        run.program("relay_worker", "mixed", "1", "5").env("TESSERA_SHARE", "space").start().end(BOUND).exits(0)
                .says("right 5");
    }

    /** The second cuMemsetD32Async fails, because the first one is the executor's own and fills the tenant's sink. */
    @Test
    void anErrorThatNobodyWaitedForIsToldOnce(TestRun run) {
        run.manager(Map.of("TESSERA_SCRIPT", "fail cuMemsetD32Async 401 at 2"), "--executors", "nvidia");
        relayed(run, "async").run().exits(0).says("async ok");
    }

    /** A forked child has neither the segment nor a connection to the executor, and its parent continues. */
    @Test
    void aForkedChildIsToldAndItsParentDoesNotNotice(TestRun run) {
        run.sharedManager("--executors", "nvidia");
        run.expectClientError("");
        relayed(run, "forked").run().exits(0).says("forked ok");
    }

    /** The executor makes memory for others as files of the kernel, which a limit of its process bounds. */
    @Test
    void pinnedMemoryThatTheHostHasNotIsOutOfMemoryAndTheProgramGoesOn(TestRun run) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/prlimit")), "util-linux is not installed");
        ManagerProcess manager = run.manager("--executors", "software");
        run.expectLog("pinned memory cannot be made");
        String told = "the host gives no memory for it";
        run.expectLine(told);
        run.expectClientError(told);
        Process limit = new ProcessBuilder("/usr/bin/prlimit", "--pid", Long.toString(manager.process().pid()),
                "--fsize=" + 160 * MIB).inheritIO().start(); // executors that are started later inherit it
        assertEquals(0, limit.waitFor());
        ProgramResult result = relayed(run, "pinned").run().exits(0).says("pinned ok");
        assertEquals(1, result.libraryLines().stream().filter(line -> line.contains(told) && line.contains("cudaFreeHost")).count(),
                result::toString);
    }

    /** A refusal by a bound that CUDA does not have is just error 2 for the program, so one line names the bound and what to do. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            graph_functions | there are more host functions than the 8192 that may be in graphs and queues at a time: the call fails \
            (OUT_OF_MEMORY); destroy graphs that are not used
            events          | more events are asked about than space sharing has words for (14,336 less what host functions have): destroy \
            events that are not needed any more (cudaEventDestroy), or use fewer and record them again
            contexts        | a tenant may have 256 contexts, and this one has 256; destroy what is not needed any more, or start a part \
            of the programs with another --name
            much_pinned     | MiB of it on this device, and [0-9]+ MiB of them are taken; free pinned memory that is not needed \
            (cudaFreeHost), or use pageable memory (malloc)
            """)
    void aBoundIsToldOnceWithItsRemedy(String mode, String line, TestRun run) {
        run.sharedManager("--executors", "software");
        Pattern expected = Pattern.compile(line.replaceAll("[()]", "."));
        run.expectLine(expected.pattern());
        run.expectClientError("");
        ProgramResult result = relayed(run, mode).start().end(BOUND).exits(0).says(mode.replace('_', ' ') + " ok");
        assertEquals(1, result.libraryLines().stream().filter(said -> expected.matcher(said).find()).count(), result::toString);
    }

    @Test
    void aLimitHoldsToTheByte(TestRun run) {
        run.sharedManager("--executors", "nvidia");
        relayed(run, "limit").memory(64 * MIB).run().exits(0).says("limit ok");
    }
}
