package io.tessera.system.programs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** fork, exec and threads, with a manager that gives turns. */
@ExtendWith(RunWatcher.class)
class ProcessTest {
    private static final String[] TURNS = {"--mode", "on", "--quantum", "20ms"};

    @ParameterizedTest
    @ValueSource(strings = {"fork-after", "fork-before", "fork-twice", "exec", "vfork"})
    void childrenAreCleanAndParentsGoOn(String how, TestRun run) {
        ManagerProcess manager = run.sharedManager(TURNS);
        run.program("process", how).run().exits(0).says("done");
        Await.until("every session has ended", Await.PATIENCE, () -> manager.control().clients().isEmpty());
        assertEquals(0, run.witness().overlaps(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"fork-after", "fork-before", "fork-twice", "exec", "vfork"})
    void childrenAreCleanWithoutAManagerToo(String how, TestRun run) {
        run.expectLine("no manager");
        run.program("process", how).run().exits(0).says("done");
    }

    @ParameterizedTest
    @ValueSource(strings = {"time", "space"})
    void aProgramWithoutStandardStreamsRuns(String share, @TempDir Path folder, TestRun run) throws IOException {
        ManagerProcess manager = run.sharedManager(TURNS);
        Path trace = folder.resolve("trace");
        run.program("process", "closed-streams").env("TESSERA_SHARE", share).env("TESSERA_TRACE", trace.toString()).run().exits(0).says("done");
        assertTrue(Files.size(trace) > 0);
        Await.until("every session has ended", Await.PATIENCE, () -> manager.control().clients().isEmpty());
    }

    /** Every launch of every thread is counted, whether the thread still exists, shares a slot, or has ended. */
    @ParameterizedTest
    @CsvSource({"together, 12800", "in-turn, 4000", "more-than-slots, 3000"})
    void launchesOfAllThreadsAreCounted(String how, long launches, TestRun run) {
        ManagerProcess manager = run.sharedManager(TURNS);
        RunningProgram program = run.program("threads", how).start().awaitLine("done");
        JsonObject device = manager.control().clientDevice(program.pid());
        assertEquals(launches, device.get("launches").getAsLong(), device::toString);
        assertEquals(launches, run.witness().submissions(program.pid(), 0));
        assertTrue(device.get("submissions").getAsLong() >= launches, device::toString);
        program.tell("");
        program.end().exits(0);
    }
}
