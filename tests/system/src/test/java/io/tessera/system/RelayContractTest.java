package io.tessera.system;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The rows of native-preload/CONTRACT.md on faults, errors of asynchronous calls and limits in space sharing. */
@ExtendWith(RunWatcher.class)
class RelayContractTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    private static final long MIB = 1 << 20;

    private static NativeCase relayed(TestRun run, String mode) {
        return run.program("relay_contract", mode).env("TESSERA_SHARE", "space");
    }

    /** A context is one for all: whoever shares it hears, and the next program has another. */
    @Test
    void aFaultIsEverybodysAndTheNextProgramRuns(TestRun run) {
        run.manager(ManagerProcess.AS_USERS, "--executors", "nvidia");
        run.expectLog("executor");
        run.expectClientError("");
        run.expectLine("the executor is gone: every later CUDA call fails");
        RunningCase bystander = relayed(run, "bystander").start();
        assertEquals("ready", bystander.nextLine(BOUND));
        relayed(run, "fault").run().exits(0).says("faulted");
        bystander.tell("go");
        bystander.end(BOUND).exits(0).says("told");
        run.program("relay_worker", "mixed", "1", "5").env("TESSERA_SHARE", "space").start().end(BOUND).exits(0)
                .says("right 5");
    }

    @Test
    void anErrorThatNobodyWaitedForIsToldOnce(TestRun run) {
        run.manager(Map.of("TESSERA_SCRIPT", "fail cuMemsetD32Async 401 at 1"), "--executors", "nvidia");
        relayed(run, "async").run().exits(0).says("async ok");
    }

    /** The child has neither the segment nor the executor's ear, and its parent goes on. */
    @Test
    void aForkedChildIsToldAndItsParentDoesNotNotice(TestRun run) {
        run.manager("--executors", "nvidia");
        run.expectClientError("");
        relayed(run, "forked").run().exits(0).says("forked ok");
    }

    /** Memory that the executor makes for others is files of the kernel, which a limit of its process holds short. */
    @Test
    void pinnedMemoryThatTheHostHasNotIsOutOfMemoryAndTheProgramGoesOn(TestRun run) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/prlimit")), "util-linux is not installed");
        ManagerProcess manager = run.manager("--executors", "software");
        run.expectLog("pinned memory cannot be made");
        Process limit = new ProcessBuilder("/usr/bin/prlimit", "--pid", Long.toString(manager.process().pid()),
                "--fsize=" + 160 * MIB).inheritIO().start(); // executors come later and inherit it
        assertEquals(0, limit.waitFor());
        relayed(run, "pinned").run().exits(0).says("pinned ok");
    }

    @Test
    void aLimitHoldsToTheByte(TestRun run) {
        run.manager("--executors", "nvidia");
        relayed(run, "limit").memory(64 * MIB).run().exits(0).says("limit ok");
    }
}
