package io.tessera.system;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A device that has less memory than the manager believes: contexts, the driver, or processes without Tessera have some of
 * it. Programs that each fit it alone run to the end; one that does not is out of memory; nobody waits for ever.
 */
@ExtendWith(RunWatcher.class)
class ShortDeviceTest {
    private static final long MIB = 1L << 20;
    private static final long DEVICE = 64 * MIB;
    private static final Duration PATIENCE = Await.PATIENCE;

    private static ManagerProcess manager(TestRun run, String... options) {
        List<String> all = new ArrayList<>(List.of("--capacity", "64MiB", "--executors", "none", "--move-share", "50%"));
        all.addAll(List.of(options));
        return run.manager(all.toArray(String[]::new));
    }

    private static NativeCase swapping(TestRun run, String script, String fixture, String tenant, String... arguments) {
        return run.program(fixture, arguments).plan("swap").tenant(tenant).script("memory 64MiB; " + script);
    }

    /** Each batch of a worker checks what it left in memory, so a lost or mixed up byte ends it. */
    @ParameterizedTest
    @CsvSource({"hidden 6MiB, 2, 75", "taken 6MiB, 2, 75", "taken 4MiB; hidden 2MiB, 3, 90", "hidden 3MiB, 2, 90"})
    void programsThatEachFitRunToTheEnd(String script, int programs, int percent, TestRun run) {
        ManagerProcess manager = manager(run);
        List<RunningCase> workers = new ArrayList<>();
        for (int i = 0; i < programs; i++) {
            workers.add(swapping(run, script, "worker", "t" + i, "ms=0", "told=1", "kernel_us=1000",
                    "bytes=" + DEVICE * percent / 100 / MIB * MIB).start());
        }
        for (RunningCase worker : workers) {
            worker.awaitLine("ready");
        }
        Await.until("each has had its turns", PATIENCE,
                () -> manager.control().device(0).get("handovers").getAsLong() >= 3L * programs,
                () -> manager.control().device(0).toString());
        for (RunningCase worker : workers) {
            worker.tell("");
        }
        for (RunningCase worker : workers) {
            NativeResult result = worker.end().exits(0);
            assertTrue(result.output().getLast().matches("done [1-9]\\d*"), result::toString);
        }
    }
}
