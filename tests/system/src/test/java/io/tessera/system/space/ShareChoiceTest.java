package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramLaunch;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs that let the manager choose between time sharing and space sharing, with real programs and a real manager. */
@ExtendWith(RunWatcher.class)
class ShareChoiceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(40);

    private static ProgramLaunch console(TestRun run, String share, String tenant) {
        return run.program("console").script("memory 64MiB").env("TESSERA_SHARE", share).tenant(tenant);
    }

    private static RunningProgram connected(ProgramLaunch launch) {
        RunningProgram program = launch.start();
        program.okay("init");
        return program;
    }

    private static RunningProgram started(ProgramLaunch launch) {
        RunningProgram program = connected(launch);
        program.okay("context 0");
        return program;
    }

    private static void assertShares(ManagerProcess manager, RunningProgram program, String plan, String reason) {
        JsonObject client = manager.control().client(program.pid());
        assertEquals(plan, client.get("plan").getAsString());
        assertTrue(client.get("sharing").getAsString().startsWith(reason), client::toString);
    }

    @Test
    void theFirstSharesByTimeAndOthersWithIt(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        RunningProgram first = started(console(run, "auto", "first"));
        assertShares(manager, first, "plain", "the manager prefers time");
        RunningProgram second = started(console(run, "auto", "second"));
        assertShares(manager, second, "plain", "the manager prefers time");
        first.quit().exits(0);
        second.quit().exits(0);
    }

    @Test
    void theFirstSharesBySpaceIfTheManagerPrefersItAndOthersWithIt(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "nvidia", "--prefer", "space");
        RunningProgram first = connected(console(run, "auto", "first"));
        assertShares(manager, first, "relay", "the manager prefers space");
        RunningProgram second = connected(console(run, "auto", "second"));
        assertShares(manager, second, "relay", "the manager prefers space");
        first.quit().exits(0);
        second.quit().exits(0);
    }

    @Test
    void besideProgramsThatTakeTurnsNobodySharesBySpace(TestRun run) {
        ManagerProcess manager = run.sharedManager("--executors", "nvidia", "--prefer", "space");
        RunningProgram first = started(console(run, "time", "first"));
        RunningProgram second = started(console(run, "auto", "second"));
        assertShares(manager, second, "plain", "a program shares by time");
        first.quit().exits(0);
        second.quit().exits(0);
    }

    /** The program began in space sharing, so a line tells what the user can do; it is never restarted automatically. */
    @Test
    void whatSpaceSharingDoesNotServeIsAnErrorThatSaysWhatToDo(TestRun run) {
        run.expectLine("this program uses managed memory .*: run it with --share time");
        run.expectClientError("cuMemAllocManaged is not supported in space sharing.*");
        run.sharedManager("--executors", "nvidia", "--prefer", "space");
        RunningProgram program = connected(console(run, "auto", "managed"));
        program.tell("managed 4096");
        assertTrue(program.nextLine(PATIENCE).contains("801"), program::toString);
        program.quit().exits(0);
    }

    @Test
    void whereNoExecutorCanServeAProgramItSharesByTime(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "none", "--prefer", "space");
        RunningProgram program = started(console(run, "auto", "first"));
        assertShares(manager, program, "plain", "this manager starts no executors");
        program.quit().exits(0);
    }
}
