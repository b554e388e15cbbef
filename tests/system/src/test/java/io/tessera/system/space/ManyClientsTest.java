package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Many relayed programs on the software GPU, and the effects of one of them on the others. */
@ExtendWith(RunWatcher.class)
class ManyClientsTest {
    /** Number of programs; up to 256 in a run by hand ({@code -Dtessera.crowd=256}). */
    private static final int CROWD = Integer.getInteger("tessera.crowd", 24);
    private static final Duration BOUND = Duration.ofSeconds(60 + CROWD);
    /**
     * Maximum mappings of the executor's process for each tenant: its segment, staging, memory, stack. If sinks were mapped one by one, there would be 1,435.
     */
    private static final long MOST_MAPPINGS = 24;

    private static RunningProgram guest(TestRun run, String tenant, String... arguments) {
        return run.program("relay_guest", arguments).env("TESSERA_SHARE", "space").tenant(tenant).start();
    }

    private static JsonObject executor(ManagerProcess manager) {
        return manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    private static long mappings(long pid) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Long.toString(pid), "maps"))) {
            return lines.count();
        }
    }

    private static void awaitReady(RunningProgram guest) {
        assertEquals("ready", guest.nextLine(BOUND), () -> guest.errors().toString());
    }

    private static void endsRight(RunningProgram guest) {
        guest.tell("");
        assertEquals("right", guest.end(BOUND).exits(0).output().getLast());
    }

    /** All at once, on a device that is too small if each took more than it needs. */
    @Test
    void manyTenantsFitAndCostTheExecutorFewMappings(TestRun run) throws IOException {
        ManagerProcess manager = run.manager("--executors", "software", "--software-memory", 4L * CROWD + 32 + "MiB", "--max-clients",
                Integer.toString(CROWD + 8));
        if (CROWD > 100) {
            run.expectLog("more lines about processes of user");
        }
        RunningProgram first = guest(run, "first", "0");
        awaitReady(first);
        long pid = executor(manager).get("pid").getAsLong();
        long before = mappings(pid);
        List<RunningProgram> guests = new ArrayList<>();
        for (int i = 1; i < CROWD; i++) {
            guests.add(guest(run, "guest-" + i, Integer.toString(i)));
        }
        guests.forEach(ManyClientsTest::awaitReady);
        long each = (mappings(pid) - before) / guests.size();
        System.out.println(CROWD + " tenants: " + each + " mappings each");
        assertTrue(each < MOST_MAPPINGS, each + " mappings for each tenant");
        endsRight(first);
        guests.forEach(ManyClientsTest::endsRight);
        assertEquals(pid, executor(manager).get("pid").getAsLong());
    }

    /** A program that was alone ran without fences and without a sink; when others come, it gets what it needs beside them. */
    @Test
    void oneThatWasAloneGoesOnBesideOneThatTakesAllMemory(TestRun run) {
        run.manager("--executors", "software", "--software-memory", "256MiB");
        RunningProgram alone = guest(run, "alone", "5");
        awaitReady(alone);
        RunningProgram greedy = guest(run, "greedy", "6", "greedy");
        awaitReady(greedy);
        endsRight(alone);
        endsRight(greedy);
    }

    /** Runs without fences, since a fenced kernel cannot end a context. */
    @Test
    void whoseContextIsEndedByAnotherHearsThatItWasAnother(TestRun run) {
        ManagerProcess manager = run.manager(Map.of("TESSERA_EXECUTOR_UNPROTECTED", "1"), "--executors", "software");
        run.expectLog("executor");
        run.expectClientError("");
        String line = "the context that programs share was ended by a fault \\(CUDA error \\d+\\) of tenant \"culprit\"";
        run.expectLine("");
        RunningProgram neighbour = guest(run, "neighbour", "1", "suffers");
        awaitReady(neighbour);
        RunningProgram culprit = guest(run, "culprit", "2", "strays");
        awaitReady(culprit);
        long pid = executor(manager).get("pid").getAsLong();
        culprit.tell("");
        assertEquals("error 700", culprit.end(BOUND).exits(0).output().getLast());
        Await.until("the executor is another one", BOUND, () -> ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isEmpty());
        neighbour.tell("");
        ProgramResult result = neighbour.end(BOUND).exits(0);
        assertEquals("error 709", result.output().getLast(), result::toString);
        assertTrue(result.errors().stream().anyMatch(said -> said.matches(".*" + line + ".*")), result::toString);
    }
}
