package io.tessera.system.turns;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Clients in turns: no two have work on the device at the same time, none is left out, no work is lost. */
@ExtendWith(RunWatcher.class)
class TurnsTest {
    /** Number of turns that a test observes, and pieces of work of each client: at least two batches. */
    private static final long HANDOVERS = 100;
    private static final long PIECES = 12;

    @ParameterizedTest
    @CsvSource({"2, 20, false", "8, 20, true", "50, 10, false"})
    void clientsTakeTurns(int clients, int quantumMs, boolean graphs, TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", quantumMs + "ms");
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            workers.add(run.program("worker", "wait=1", "ms=0", "told=1", "kernel_us=300", "batch=4",
                    "graph=" + (graphs && i % 2 == 0 ? 1 : 0)).tenant("tenant-" + i).start());
        }
        workers.forEach(worker -> worker.awaitLine("ready"));
        workers.forEach(worker -> worker.tell(""));
        long enough = Math.max(HANDOVERS, clients * 4L);
        Await.until("everybody works, in " + enough + " turns", Await.PATIENCE,
                () -> workers.stream().allMatch(worker -> run.witness().executed(worker.pid(), 0) >= PIECES)
                        && manager.control().device(0).get("handovers").getAsLong() >= enough,
                () -> manager.control().device(0).toString());
        workers.forEach(worker -> worker.tell(""));
        long least = Long.MAX_VALUE;
        for (RunningProgram worker : workers) {
            ProgramResult result = worker.end().exits(0);
            least = Math.min(least, Long.parseLong(result.output().getLast().substring(5)));
            if (!result.program().contains("graph=1")) { // captured work is counted, but not submitted
                assertEquals(run.witness().submissions(worker.pid(), 0), run.segments().submissions(worker.pid()),
                        () -> "a submission escaped: " + result);
            }
        }
        assertEquals(0, run.witness().overlaps(0), () -> "overlaps: " + run.witness().firstOverlaps(0));
        assertEquals(1, run.witness().mostProcesses(0));
        assertTrue(least >= 2, "a client got only " + least + " batches");
        JsonObject device = manager.control().device(0);
        long handovers = device.get("handovers").getAsLong();
        assertTrue(handovers >= clients * 2L, device::toString);
        System.out.println(clients + " clients: " + handovers + " handovers, median "
                + device.get("handoverMedianNs").getAsLong() / 1000 + " us, fewest batches " + least);
    }

    /** Equal clients get equal shares. */
    @Test
    void equalClientsProgressEqually(TestRun run) {
        run.manager("--mode", "on", "--quantum", "20ms");
        RunningProgram a = run.program("worker", "wait=1", "ms=0", "kernel_us=500").tenant("a").start();
        RunningProgram b = run.program("worker", "wait=1", "ms=0", "kernel_us=500").tenant("b").start();
        a.awaitLine("ready");
        b.awaitLine("ready");
        a.tell("");
        b.tell("");
        List<String> shares = new ArrayList<>();
        Await.until("both get as much while the machine lets both run", Await.PATIENCE, () -> {
            long first = run.witness().executed(a.pid(), 0);
            long second = run.witness().executed(b.pid(), 0);
            Await.sleep(Duration.ofMillis(1500));
            first = run.witness().executed(a.pid(), 0) - first;
            second = run.witness().executed(b.pid(), 0) - second;
            shares.add(first + " and " + second);
            double share = (double) first / Math.max(1, first + second);
            return share > 0.40 && share < 0.60;
        }, () -> "pieces of work: " + shares);
        a.kill();
        b.kill();
    }

    /** Weights that an operator sets while programs run are kept, without further scheduler commands; commands show the effective values. */
    @Test
    void weightsArePartsOfTheDevice(TestRun run) {
        ManagerProcess manager = run.manager("--quantum", "20ms");
        RunningProgram a = run.program("worker", "wait=1", "ms=0", "kernel_us=500").tenant("a").start();
        RunningProgram b = run.program("worker", "wait=1", "ms=0", "kernel_us=500").tenant("b").start();
        a.awaitLine("ready");
        b.awaitLine("ready");
        manager.control().okay("{\"request\":\"tenant\",\"tenant\":\"a\",\"set\":{\"weight\":4}}");
        assertTrue(manager.control().device(0).get("reason").getAsString().startsWith("turns: tenants have different shares"));
        a.tell("");
        b.tell("");
        List<String> shares = new ArrayList<>();
        Await.until("a gets four fifths while the machine lets both run", Await.PATIENCE, () -> {
            long first = run.witness().executed(a.pid(), 0);
            long second = run.witness().executed(b.pid(), 0);
            Await.sleep(Duration.ofMillis(1500));
            first = run.witness().executed(a.pid(), 0) - first;
            second = run.witness().executed(b.pid(), 0) - second;
            shares.add(first + " and " + second);
            double share = (double) first / Math.max(1, first + second);
            return share > 0.74 && share < 0.86;
        }, () -> "pieces of work: " + shares);
        manager.control().okay("{\"request\":\"tenant\",\"tenant\":\"a\",\"reset\":true}");
        assertTrue(!manager.control().device(0).get("reason").getAsString().contains("different shares"));
        a.kill();
        b.kill();
    }

    /** Without turns the same clients overlap, which shows that the other tests can detect it. */
    @Test
    void clientsOverlapWhenTheSchedulerIsOff(TestRun run) {
        run.manager("--mode", "off");
        RunningProgram a = run.program("worker", "ms=0", "told=1").start();
        RunningProgram b = run.program("worker", "ms=0", "told=1").start();
        Await.until("they meet on the device", Await.PATIENCE, () -> run.witness().overlaps(0) > 0);
        a.tell("");
        b.tell("");
        a.end().exits(0);
        b.end().exits(0);
        assertEquals(2, run.witness().mostProcesses(0));
    }

    @Test
    void devicesHaveTurnsOfTheirOwn(TestRun run) {
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        List<RunningProgram> programs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            RunningProgram program = run.program("console").script("devices 2").start();
            program.okay("init");
            program.okay("context " + i % 2);
            programs.add(program);
        }
        for (int round = 0; round < 10; round++) {
            programs.forEach(program -> program.tell("launch 2000 5"));
            programs.forEach(program -> program.tell("sync"));
            for (RunningProgram program : programs) {
                program.awaitLine("ok");
                program.awaitLine("ok");
            }
        }
        assertEquals(0, run.witness().overlaps(0));
        assertEquals(0, run.witness().overlaps(1));
        assertEquals(2, manager.control().status().getAsJsonArray("devices").size());
        programs.forEach(program -> program.quit().exits(0));
    }

    /** A client that is idle gives its turn back long before the quantum ends. */
    @Test
    void idleClientGivesItsTurnBack(TestRun run) {
        run.manager("--mode", "on", "--quantum", "100s"); // longer than the timeout of an answer
        RunningProgram a = run.program("console").start();
        RunningProgram b = run.program("console").start();
        a.openDevice();
        b.openDevice();
        for (int i = 0; i < 10; i++) {
            a.okay("launch 1000 1");
            a.okay("sync");
            b.okay("launch 1000 1");
            b.okay("sync");
        }
        assertEquals(0, run.witness().overlaps(0));
        a.quit().exits(0);
        b.quit().exits(0);
    }
}
