package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.DriverActivity;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Clients and managers that are killed, stopped and restarted at random moments. */
@ExtendWith(RunWatcher.class)
class DeathTest {
    private static final String[] WORK = {"ms=0", "kernel_us=400", "batch=3"};

    private static RunningProgram worker(TestRun run, int number) {
        return run.program("worker", WORK).tenant("tenant-" + number).start().awaitLine("ready");
    }

    /**
     * Kills a client at random moments, whatever it is doing, and measures when another one starts to work. If the killed client
     * held the turn, that is the time in which its turn became free.
     */
    @Test
    void turnOfAKilledClientIsFreeWithin100Ms(TestRun run) {
        SeededRandom random = new SeededRandom("turnOfAKilledClientIsFreeWithin100Ms");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "300ms");
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            workers.add(worker(run, i));
        }
        List<Long> latenciesMs = new ArrayList<>();
        int holders = 0;
        for (int round = 0; round < 20; round++) {
            Await.sleep(Duration.ofMillis(150 + random.below(250)));
            RunningProgram victim = round % 2 == 0 ? holder(manager, workers, random) : workers.get(
                    random.below(workers.size()));
            boolean held = isHolder(manager, victim);
            long killedNs = victim.kill();
            if (held) {
                holders++;
                latenciesMs.add((nextWork(run, victim, killedNs) - killedNs) / 1_000_000);
            }
            workers.remove(victim);
            workers.add(worker(run, 3 + round));
        }
        System.out.println("from the kill of a holder to the next work, ms: " + latenciesMs);
        assertTrue(holders >= 5, "only " + holders + " of the killed clients held the turn, seed " + random.seed());
        latenciesMs.sort(null);
        long median = latenciesMs.get(latenciesMs.size() / 2);
        assertTrue(median <= 100, latenciesMs + " ms, seed " + random.seed()); // single long ones are due to the machine
        assertEquals(0, run.witness().overlaps(0),
                () -> "seed " + random.seed() + ", overlaps: " + run.witness().firstOverlaps(0));
    }

    /** Killed while its last kernel runs and another client waits for the drain. */
    @Test
    void turnOfAClientKilledInItsDrainIsFreeWithin100Ms(TestRun run) {
        SeededRandom random = new SeededRandom("turnOfAClientKilledInItsDrainIsFreeWithin100Ms");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        RunningProgram waiter = run.program("console").start();
        waiter.openDevice();
        List<Long> latenciesMs = new ArrayList<>();
        for (int round = 0; round < 6; round++) {
            RunningProgram victim = run.program("console").start();
            victim.openDevice();
            victim.okay("launch 60000000 1");
            waiter.tell("launch 1000 1");
            Await.until("the victim drains", Await.PATIENCE, () -> manager.control()
                    .clientDevice(victim.pid()).get("ack").getAsString().equals("draining"));
            Await.sleep(Duration.ofMillis(random.below(60)));
            long killedNs = victim.kill();
            waiter.awaitLine("ok");
            latenciesMs.add((nextWork(run, victim, killedNs) - killedNs) / 1_000_000);
            waiter.okay("sync");
        }
        System.out.println("from the kill in a drain to the next work, ms: " + latenciesMs);
        latenciesMs.sort(null);
        assertTrue(latenciesMs.get(latenciesMs.size() / 2) <= 100, latenciesMs + " ms, seed " + random.seed());
        assertEquals(0, run.witness().overlaps(0));
        waiter.quit().exits(0);
    }

    private static boolean isHolder(ManagerProcess manager, RunningProgram program) {
        JsonObject client = manager.control().client(program.pid());
        return client.getAsJsonArray("devices").get(0).getAsJsonObject().get("turn").getAsString().equals("granted");
    }

    private static RunningProgram holder(ManagerProcess manager, List<RunningProgram> workers, SeededRandom random) {
        for (RunningProgram worker : workers) {
            if (isHolder(manager, worker)) {
                return worker;
            }
        }
        return workers.get(random.below(workers.size()));
    }

    /** Returns when a process other than the victim first entered the driver, or executed, after a time. */
    private static long nextWork(TestRun run, RunningProgram victim, long afterNs) {
        long[] found = {Long.MAX_VALUE};
        Await.until("somebody works after the kill", Await.PATIENCE, () -> {
            for (DriverActivity.Interval interval : run.witness().intervals(0)) {
                if (interval.pid() != victim.pid() && interval.beginNs() > afterNs) {
                    found[0] = Math.min(found[0], interval.beginNs());
                }
            }
            return found[0] != Long.MAX_VALUE;
        });
        return found[0];
    }

    /** The counts of a thread inside the driver must not be lost while its words move. */
    @Test
    void whoSubmitsWithoutPauseComesBackToEveryManager(TestRun run) {
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager");
        ManagerProcess manager = run.manager("--mode", "off");
        RunningProgram worker = run.program("worker", "ms=0", "kernel_us=0", "batch=2000").env("TESSERA_MANAGER_TIMEOUT_MS", "2000").tenant("t")
                .start()
                .awaitLine("ready");
        for (int round = 0; round < 5; round++) {
            manager.kill();
            int deaths = round + 1;
            Await.until("it has noticed", Await.PATIENCE, () -> worker.errors().stream()
                    .filter(line -> line.contains("running without turns until it is back")).count() == deaths);
            manager = run.manager("--mode", "off");
            ManagerProcess present = manager;
            Await.until("it is registered again, round " + round, Duration.ofSeconds(15), () -> present.control().clients().stream()
                    .anyMatch(c -> c.get("pid").getAsLong() == worker.pid() && !c.get("devices").getAsJsonArray().isEmpty()));
        }
        ProcessSignals.send(worker.process(), ProcessSignals.TERM);
        worker.end();
    }

    /** The manager is killed and started again while clients run: they continue, say so, and reconnect. */
    @Test
    void clientsOutliveTheirManager(TestRun run) {
        SeededRandom random = new SeededRandom("clientsOutliveTheirManager");
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "30ms");
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            workers.add(run.program("worker", WORK).env("TESSERA_MANAGER_TIMEOUT_MS", "1000").tenant("tenant-" + i).start().awaitLine("ready"));
        }
        for (int round = 0; round < 3; round++) {
            Await.sleep(Duration.ofMillis(200 + random.below(400)));
            long before = launches(manager, workers.getFirst());
            manager.kill();
            long[] executed = executed(run, workers);
            Await.until("everybody works without a manager", Await.PATIENCE, () -> {
                long[] now = executed(run, workers);
                return now[0] > executed[0] + 5 && now[1] > executed[1] + 5 && now[2] > executed[2] + 5;
            });
            int deaths = round + 1;
            Await.until("everybody has noticed", Await.PATIENCE, () -> workers.stream().allMatch(
                    worker -> worker.errors().stream().filter(line -> line.contains("running without turns until it is back")).count() == deaths));
            assertEquals(List.of(), segments(run), "left by a manager that was killed");
            manager = run.manager("--mode", "on", "--quantum", "30ms");
            ManagerProcess present = manager;
            // A client that has named its devices has also got the answer; otherwise it would not notice the next death.
            Await.until("everybody is registered again", Await.PATIENCE, () -> workers.stream().allMatch(w -> present.control().clients().stream()
                    .anyMatch(c -> c.get("pid").getAsLong() == w.pid() && !c.get("devices").getAsJsonArray().isEmpty())));
            Await.until("turns are taken again", Await.PATIENCE, () -> present.control().exclusive());
            assertTrue(launches(manager, workers.getFirst()) >= before, "the counters began again");
        }
        long overlaps = run.witness().overlaps(0);
        Await.sleep(Duration.ofMillis(500));
        assertEquals(overlaps, run.witness().overlaps(0), "overlaps under turns, seed " + random.seed());
        for (RunningProgram worker : workers) {
            ProcessSignals.send(worker.process(), ProcessSignals.TERM);
            ProgramResult result = worker.end();
            assertEquals(3, result.libraryLines().size(), () -> "one line each time: " + result);
        }
    }

    private static List<String> segments(TestRun run) {
        try (Stream<Path> files = Files.list(run.segmentDirectory())) {
            return files.map(file -> file.getFileName().toString()).filter(name -> name.endsWith(".segment")).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long launches(ManagerProcess manager, RunningProgram worker) {
        return manager.control().clientDevice(worker.pid()).get("launches").getAsLong();
    }

    private static long[] executed(TestRun run, List<RunningProgram> workers) {
        return workers.stream().mapToLong(worker -> run.witness().executed(worker.pid(), 0)).toArray();
    }

    /** A stopped manager holds no client for longer than the timeout; when continued, it takes over again. */
    @Test
    void stoppedManagerHoldsNobody(TestRun run) {
        run.expectLine("running without turns until it is back");
        run.expectClientError("manager");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            workers.add(run.program("worker", WORK).env("TESSERA_MANAGER_TIMEOUT_MS", "700").tenant("t" + i).start()
                    .awaitLine("ready"));
        }
        Await.sleep(Duration.ofMillis(300));
        ProcessSignals.send(manager.process(), ProcessSignals.STOP);
        long stoppedNs = System.nanoTime();
        Await.sleep(Duration.ofMillis(100));
        long[] executed = executed(run, workers);
        Await.until("both work while the manager is stopped", Await.PATIENCE, () -> {
            long[] now = executed(run, workers);
            return now[0] > executed[0] + 5 && now[1] > executed[1] + 5;
        });
        System.out.println("both clients worked " + (System.nanoTime() - stoppedNs) / 1_000_000
                + " ms after the manager stopped (timeout 700 ms)");
        ProcessSignals.send(manager.process(), ProcessSignals.CONT);
        Await.until("turns are taken again", Await.PATIENCE, () -> manager.control().exclusive(),
                () -> manager.control().status().toString());
        workers.forEach(RunningProgram::kill);
    }

    /** By default, a client that is stopped in its turn keeps the others waiting for a second, and gets turns again when it continues. */
    @Test
    void aClientThatIsStoppedInItsTurnHoldsNobodyForLong(TestRun run) {
        run.expectLog("is stopped by a signal");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        RunningProgram stopped = worker(run, 0);
        RunningProgram other = worker(run, 1);
        Await.until("a client stopped in its turn is passed over", Await.PATIENCE, () -> {
            Await.until("the first holds the turn", Await.PATIENCE, () -> isHolder(manager, stopped));
            ProcessSignals.send(stopped.process(), ProcessSignals.STOP);
            long before = executed(run, List.of(other))[0];
            Await.sleep(Duration.ofMillis(2500));
            assertTrue(executed(run, List.of(other))[0] > before + 5, "the other one waits");
            boolean found = String.join("\n", manager.log()).contains("is stopped by a signal and does not drain");
            ProcessSignals.send(stopped.process(), ProcessSignals.CONT);
            return found;
        });
        long[] executed = executed(run, List.of(stopped, other));
        Await.until("both work again", Await.PATIENCE, () -> {
            long[] now = executed(run, List.of(stopped, other));
            return now[0] > executed[0] + 5 && now[1] > executed[1] + 5;
        });
        stopped.kill();
        other.kill();
    }

    /** A stopped client does not answer. It is reported, and under this policy the others wait for it; when it continues, so do they. */
    @Test
    void stoppedClientIsReportedAndTheRestGoesOn(TestRun run) {
        run.expectLog("drain(ed)? within the grace");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms", "--grace", "300ms", "--drain-policy", "wait");
        RunningProgram stopped = worker(run, 0);
        RunningProgram other = worker(run, 1);
        // A turn may end between the check and the signal. A client that holds no turn and requests none delays no other, so
        // it is stopped again then.
        Await.until("a client stopped within its turn is reported", Await.PATIENCE, () -> {
            Await.until("the first holds the turn", Await.PATIENCE, () -> isHolder(manager, stopped));
            ProcessSignals.send(stopped.process(), ProcessSignals.STOP);
            Await.sleep(Duration.ofSeconds(1));
            boolean reported = String.join("\n", manager.log()).contains("has not drained within the grace");
            if (!reported) {
                ProcessSignals.send(stopped.process(), ProcessSignals.CONT);
            }
            return reported;
        });
        ProcessSignals.send(stopped.process(), ProcessSignals.CONT);
        long[] executed = executed(run, List.of(stopped, other));
        Await.until("both work again", Await.PATIENCE, () -> {
            long[] now = executed(run, List.of(stopped, other));
            return now[0] > executed[0] + 5 && now[1] > executed[1] + 5;
        });
        assertEquals(0, run.witness().overlaps(0));
        stopped.kill();
        other.kill();
    }
}
