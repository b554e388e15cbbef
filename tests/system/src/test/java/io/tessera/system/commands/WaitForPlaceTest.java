package io.tessera.system.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TesseraCommand;
import io.tessera.system.TestRun;
import io.tessera.testing.BuildOutputs;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** {@code tessera run --wait} with a manager that admits one client at a time. */
@ExtendWith(RunWatcher.class)
class WaitForPlaceTest {
    private static final String FULL = "as many clients as this manager admits are there already: 1 \\(--max-clients\\)";

    private static RunningProgram waiter(TestRun run, String name) {
        return TesseraCommand.tessera(run, "run", "--wait", "--name", name, "--", BuildOutputs.fixture("console").toString()).start();
    }

    private static RunningProgram holder(TestRun run) {
        RunningProgram program = run.program("console").tenant("first").start();
        program.openDevice();
        return program;
    }

    private static List<String> waiting(ManagerProcess manager) {
        List<String> programs = new ArrayList<>();
        JsonArray waiting = manager.control().status().getAsJsonArray("waiting");
        if (waiting != null) {
            for (JsonElement each : waiting) {
                JsonObject program = each.getAsJsonObject();
                programs.add(program.get("place").getAsInt() + " " + program.get("tenant").getAsString());
            }
        }
        return programs;
    }

    private static void awaitWaiting(ManagerProcess manager, String... programs) {
        Await.until("these wait: " + List.of(programs), Await.PATIENCE, () -> waiting(manager).equals(List.of(programs)));
    }

    @Test
    void oneAfterTheOtherStarts(TestRun run) {
        ManagerProcess manager = run.sharedManager("--max-clients", "1");
        RunningProgram first = holder(run);
        run.expectLine("place \\d of \\d in the queue.*");
        RunningProgram second = waiter(run, "second");
        awaitWaiting(manager, "1 second");
        RunningProgram third = waiter(run, "third");
        awaitWaiting(manager, "1 second", "2 third");
        assertTrue(TesseraCommand.tessera(run, "status").run().exits(0).output().stream()
                .anyMatch(line -> line.matches("  second \\(pid " + second.pid() + "\\): place 1, waits for .*: " + FULL)));
        first.quit().exits(0);
        second.openDevice();
        assertEquals("second", manager.control().client(second.pid()).get("tenant").getAsString());
        awaitWaiting(manager, "1 third");
        second.quit().exits(0);
        third.openDevice();
        awaitWaiting(manager);
        third.quit().exits(0);
    }

    @Test
    void whoIsKilledInTheQueueHoldsUpNobody(TestRun run) {
        ManagerProcess manager = run.sharedManager("--max-clients", "1");
        RunningProgram first = holder(run);
        run.expectLine("place \\d of \\d in the queue.*");
        RunningProgram killed = waiter(run, "killed");
        awaitWaiting(manager, "1 killed");
        RunningProgram ended = waiter(run, "ended");
        awaitWaiting(manager, "1 killed", "2 ended");
        RunningProgram third = waiter(run, "third");
        awaitWaiting(manager, "1 killed", "2 ended", "3 third");
        ProcessSignals.send(killed.process(), ProcessSignals.KILL);
        killed.end().exits(137);
        ProcessSignals.send(ended.process(), ProcessSignals.TERM);
        ended.end().exits(143);
        awaitWaiting(manager, "1 third");
        first.quit().exits(0);
        third.openDevice();
        third.quit().exits(0);
    }

    /** The program is killed before it has registered; also if a place was free at once. */
    @Test
    void noPlaceIsKeptForWhoHasEnded(TestRun run) throws Exception {
        ManagerProcess manager = run.sharedManager("--max-clients", "1");
        run.expectLine("place \\d of \\d in the queue.*");
        for (int killed = 0; killed < 4; killed++) {
            RunningProgram program = waiter(run, "killed-" + killed);
            Thread.sleep(400L * killed); // before, while and after it asks
            ProcessSignals.send(program.process(), ProcessSignals.KILL);
            program.end().exits(137);
        }
        awaitWaiting(manager);
        RunningProgram first = holder(run);
        awaitWaiting(manager);
        first.quit().exits(0);
    }

    @Test
    void afterItsTimeTheProgramIsNotStarted(TestRun run) {
        ManagerProcess manager = run.sharedManager("--max-clients", "1");
        RunningProgram first = holder(run);
        run.expectLine("(place \\d of \\d in the queue|no place within 1 s, so the program was not started: ).*");
        ProgramResult result = TesseraCommand.tessera(run, "run", "--wait=1", "--", "echo", "started").run().exits(75);
        assertFalse(result.output().contains("started"), result.toString());
        assertTrue(waiting(manager).isEmpty());
        first.quit().exits(0);
    }

    /** A refusal names the option to wait. */
    @Test
    void aRefusalNamesTheOption(TestRun run) {
        run.manager("--max-clients", "1");
        RunningProgram first = holder(run);
        run.expectLog("a client was refused");
        run.expectLine(".*" + FULL + "; tessera run --wait waits for a place.*");
        ProgramResult result = TesseraCommand.tessera(run, "run", "--require", "--", BuildOutputs.fixture("linked").toString()).run();
        assertTrue(result.errors().stream().anyMatch(line -> line.contains("tessera run --wait waits for a place")), result.toString());
        first.quit().exits(0);
    }

    @Test
    void whoWaitsAsksTheNextManager(TestRun run) {
        ManagerProcess manager = run.manager("--max-clients", "1");
        RunningProgram first = holder(run);
        run.expectLine(".*");
        RunningProgram second = waiter(run, "second");
        awaitWaiting(manager, "1 second");
        manager.kill();
        ManagerProcess next = run.manager("--max-clients", "1");
        Await.until("the first program is back", Await.PATIENCE, () -> next.control().status().getAsJsonArray("clients").size() == 1);
        awaitWaiting(next, "1 second");
        first.quit().exits(0);
        second.openDevice();
        second.quit().exits(0);
    }

    /** A program counts for its tenant before it has sent HELLO to the next manager; other tenants keep their places. */
    @Test
    void theClientOfAKilledManagerKeepsThePlaceOfItsTenant(TestRun run) {
        ManagerProcess manager = run.manager();
        TesseraCommand.tessera(run, "tenant", "first", "--clients", "1", "--ahead").run().exits(0);
        RunningProgram first = holder(run);
        run.expectLine(".*");
        RunningProgram second = waiter(run, "first");
        awaitWaiting(manager, "1 first");
        ProcessSignals.send(first.process(), ProcessSignals.STOP); // so that the second program asks before the first one has reconnected
        manager.kill();
        ManagerProcess next = run.manager();
        awaitWaiting(next, "1 first");
        RunningProgram other = waiter(run, "other");
        other.openDevice();
        other.quit().exits(0);
        awaitWaiting(next, "1 first");
        ProcessSignals.send(first.process(), ProcessSignals.CONT);
        Await.until("the first program is back", Await.PATIENCE, () -> !next.control().clients().isEmpty());
        awaitWaiting(next, "1 first");
        first.quit().exits(0);
        second.openDevice();
        second.quit().exits(0);
    }
}
