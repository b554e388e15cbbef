package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.nio.file.Files;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** SIGUSR1 switches turns on, SIGUSR2 switches them off, and SIGTERM ends the manager regularly; the control socket can do the same. */
@ExtendWith(RunWatcher.class)
class ManagerSignalsTest {
    private static String effective(ManagerProcess manager) {
        return manager.control().device(0).get("effective").getAsString();
    }

    private static void awaitEffective(ManagerProcess manager, String effective) {
        Await.until("the device is " + effective, Await.PATIENCE, () -> effective(manager).equals(effective));
    }

    @Test
    void signalsAndRequestsSwitchTurns(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "off", "--quantum", "20ms");
        RunningProgram a = run.program("worker", "ms=0").tenant("a").start().awaitLine("ready");
        RunningProgram b = run.program("worker", "ms=0").tenant("b").start().awaitLine("ready");
        Await.until("the two overlap", Await.PATIENCE, () -> run.witness().overlaps(0) > 5);
        assertEquals("free", effective(manager));
        for (int round = 0; round < 2; round++) {
            if (round == 0) {
                ProcessSignals.send(manager.process(), ProcessSignals.USR1);
            } else {
                manager.control().mode("on");
            }
            awaitEffective(manager, "exclusive");
            Await.until("one gate is closed", Await.PATIENCE, () -> manager.control().exclusive(),
                    () -> manager.control().status().toString());
            long overlaps = run.witness().overlaps(0);
            Await.sleep(Duration.ofMillis(500));
            assertEquals(overlaps, run.witness().overlaps(0), "they overlap under turns");
            if (round == 0) {
                ProcessSignals.send(manager.process(), ProcessSignals.USR2);
            } else {
                manager.control().mode("off");
            }
            awaitEffective(manager, "free");
            Await.until("the two overlap again", Await.PATIENCE,
                    () -> run.witness().overlaps(0) > overlaps + 5);
        }
        a.kill();
        b.kill();
    }

    @Test
    void quantumCanBeChanged(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "10s");
        RunningProgram a = run.program("worker", "ms=0").tenant("a").start().awaitLine("ready");
        RunningProgram b = run.program("worker", "ms=0").tenant("b").start().awaitLine("ready");
        manager.control().okay("{\"request\":\"quantum\",\"ns\":10000000}");
        assertEquals(10_000_000, manager.control().device(0).get("quantumNs").getAsLong());
        long before = manager.control().device(0).get("handovers").getAsLong();
        Await.until("turns are short", Await.PATIENCE, // with turns as before, there would be six in that time
                () -> manager.control().device(0).get("handovers").getAsLong() > before + 30,
                () -> manager.control().device(0).toString());
        a.kill();
        b.kill();
    }

    @Test
    void terminationLeavesNothingBehindAndClientsGoOn(TestRun run) throws Exception {
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        RunningProgram a = run.program("worker", "ms=0").tenant("a").start().awaitLine("ready");
        RunningProgram b = run.program("worker", "ms=0").tenant("b").start().awaitLine("ready");
        Await.sleep(Duration.ofMillis(200));
        assertEquals(0, manager.stop());
        for (String file : new String[] {"manager.sock", "control.sock"}) {
            assertFalse(Files.exists(run.runtimeDirectory().resolve(file)), file);
        }
        try (var files = Files.list(run.segmentDirectory())) {
            assertEquals(0, files.count());
        }
        long[] executed = {run.witness().executed(a.pid(), 0), run.witness().executed(b.pid(), 0)};
        Await.until("both go on", Await.PATIENCE, () -> run.witness().executed(a.pid(), 0) > executed[0] + 5
                && run.witness().executed(b.pid(), 0) > executed[1] + 5);
        a.kill();
        b.kill();
        assertEquals(1, a.end().libraryLines().size());
    }

    @Test
    void secondManagerIsRefused(TestRun run) {
        run.manager();
        AssertionError refusal = null;
        try {
            run.manager();
        } catch (AssertionError e) {
            refusal = e;
        }
        assertTrue(refusal != null && refusal.getMessage().contains("tessera-manager:"), String.valueOf(refusal));
    }

    @Test
    void managerMeetsTheLeftoversOfAKilledOne(TestRun run) throws Exception {
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager");
        ManagerProcess first = run.manager();
        RunningProgram program = run.program("console").start();
        program.openDevice();
        first.kill();
        program.kill();
        program.end();
        ManagerProcess second = run.manager();
        assertTrue(second.control().clients().isEmpty());
        try (var files = Files.list(run.segmentDirectory())) {
            assertEquals(0, files.count(), "the killed manager's segment is still there");
        }
        run.program("linked").run().exits(0).says("roundtrip");
    }
}
