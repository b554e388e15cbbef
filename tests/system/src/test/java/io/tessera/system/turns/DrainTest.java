package io.tessera.system.turns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The end of turns when the client's work delays it: captures, host functions, long kernels, drain policies. */
@ExtendWith(RunWatcher.class)
class DrainTest {
    private static RunningProgram console(TestRun run) {
        RunningProgram program = run.program("console").start();
        program.openDevice();
        return program;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void captureSurvivesTheEndOfItsTurn(int mode, TestRun run) {
        run.manager("--mode", "on", "--quantum", "10ms");
        RunningProgram other = run.program("worker", "ms=0", "told=1", "kernel_us=500").start().awaitLine("ready");
        RunningProgram program = console(run);
        for (int i = 0; i < 5; i++) {
            program.okay("launch 1000 3");
            program.okay("begin " + mode);
            for (int k = 0; k < 4; k++) {
                program.okay("launch 1000 1");
                Await.sleep(Duration.ofMillis(15)); // longer than a turn
            }
            program.okay("end");
            program.okay("graph");
            program.okay("graph");
            program.okay("sync");
        }
        program.quit().exits(0);
        other.tell("");
        other.end().exits(0);
        assertEquals(0, run.witness().overlaps(0), () -> "overlaps: " + run.witness().firstOverlaps(0));
    }

    @Test
    void hostFunctionsEndWithinTheTurn(TestRun run) {
        run.manager("--mode", "on", "--quantum", "10ms");
        RunningProgram other = run.program("worker", "ms=0", "told=1", "kernel_us=500").start().awaitLine("ready");
        RunningProgram program = console(run);
        for (int i = 0; i < 15; i++) {
            program.okay("launch 1000 2");
            program.okay("host 20000");
            program.okay("launch 1000 2");
        }
        program.okay("sync");
        program.quit().exits(0);
        other.tell("");
        other.end().exits(0);
        assertEquals(0, run.witness().overlaps(0), () -> "overlaps: " + run.witness().firstOverlaps(0));
    }

    /** Work that lasts longer than the grace delays the hand-over, which then happens; nothing overlaps. */
    @Test
    void longWorkIsWaitedFor(TestRun run) {
        run.expectLog("drain(ed)? within the grace");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "10ms", "--grace", "150ms",
                "--drain-policy", "wait");
        RunningProgram slow = console(run);
        RunningProgram other = console(run);
        slow.okay("launch 1000 2");
        slow.okay("hostwait");
        other.tell("launch 1000 1");
        manager.awaitLog("has not drained within the grace", Await.PATIENCE);
        assertFalse(other.hasLine(), "the turn was handed over although work was left");
        slow.okay("release");
        other.awaitLine("ok");
        other.okay("sync");
        slow.okay("sync");
        assertEquals(0, run.witness().overlaps(0));
        slow.quit().exits(0);
        other.quit().exits(0);
    }

    /** The work of one stream waits for a later submission of the same program: only another turn can end it. */
    @Test
    void policyExtendLetsAClientFinishItsOwnWait(TestRun run) {
        run.expectLog("drain(ed)? within the grace");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "50ms", "--grace", "200ms");
        RunningProgram waiting = console(run);
        RunningProgram other = console(run);
        waiting.okay("waitvalue"); // its stream waits for a word that only its own next call writes
        other.tell("launch 1000 1");
        manager.awaitLog("has not drained within the grace", Await.PATIENCE);
        assertFalse(other.hasLine(), "the turn was handed over although work was left");
        waiting.tell("writevalue");
        waiting.awaitLine("ok");
        waiting.okay("sync");
        other.awaitLine("ok");
        other.okay("sync");
        assertEquals(0, run.witness().overlaps(0));
        waiting.quit().exits(0);
        other.quit().exits(0);
    }

    @Test
    void policyEndEndsAClientThatDoesNotDrain(TestRun run) {
        run.expectLog("drain(ed)? within the grace");
        run.expectLog("is ended by signal");
        run.manager("--mode", "on", "--quantum", "20ms", "--grace", "200ms", "--drain-policy", "end");
        RunningProgram stuck = console(run);
        RunningProgram other = console(run);
        stuck.okay("hostwait"); // never released
        other.okay("launch 1000 1");
        other.okay("sync");
        int exit = stuck.end().exit();
        assertTrue(exit == 128 + ProcessSignals.TERM || exit == 128 + ProcessSignals.KILL, "it ended with " + exit);
        assertEquals(0, run.witness().overlaps(0));
        other.quit().exits(0);
    }

    /**
     * While a client waits, the queued work of the others is bounded by time: clients that would queue 400 ms of work give their
     * turns back soon. There are three of them, so that one waits from the start of every turn. The first turns do not count,
     * since no client waited before them. On a busy machine, it suffices that this holds in the best second.
     */
    @Test
    void queuedWorkIsBoundedWhileSomebodyWaits(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "50ms");
        List<RunningProgram> workers = IntStream.range(0, 3).mapToObj(i -> run.program("worker", "ms=0",
                "kernel_us=200", "batch=2000").tenant("tenant-" + i).start().awaitLine("ready")).toList();
        List<String> drained = new ArrayList<>();
        Await.until("a client that would queue 400 ms of work drains in less than three times 12.5 ms", Await.PATIENCE, () -> {
            JsonObject begin = manager.control().clientDevice(workers.getFirst().pid());
            Await.sleep(Duration.ofSeconds(1));
            JsonObject end = manager.control().clientDevice(workers.getFirst().pid());
            long drains = end.get("drains").getAsLong() - begin.get("drains").getAsLong();
            long meanUs = (end.get("drainNs").getAsLong() - begin.get("drainNs").getAsLong()) / Math.max(1, drains) / 1000;
            drained.add(drains + " drains, " + meanUs + " us on average");
            return drains >= 3 && meanUs < 40_000;
        }, drained::toString);
        System.out.println("of a client that would queue 400 ms of work: " + drained);
        workers.forEach(RunningProgram::kill);
        assertEquals(0, run.witness().overlaps(0));
    }
}
