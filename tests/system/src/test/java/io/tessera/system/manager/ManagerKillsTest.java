package io.tessera.system.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Managers that are killed while clients take turns: gates keep their state for a while, and no turn is lost or taken twice. */
@ExtendWith(RunWatcher.class)
class ManagerKillsTest {
    private static final int CLIENTS = 4;
    private static final String AWAY = "running without turns until it is back";
    /** Number of kills: many for a long run at night, otherwise as many as a test of a change needs. */
    private static final int KILLS = Integer.getInteger("tessera.test.kills", Boolean.getBoolean("tessera.long") ? 1_000 : 12);

    private static RunningProgram worker(TestRun run, int number) {
        return run.program("worker", "ms=0", "told=1", "kernel_us=400", "batch=3").env("TESSERA_MANAGER_TIMEOUT_MS", "5000")
                .tenant("tenant-" + number).start().awaitLine("ready");
    }

    private static List<RunningProgram> workers(TestRun run, int count) {
        List<RunningProgram> workers = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            workers.add(worker(run, i));
        }
        return workers;
    }

    /** Under load: no client fails, none works beside the holder of a turn, and all reconnect soon. */
    @Test
    void clientsInTurnsOutliveManyManagers(TestRun run) {
        SeededRandom random = new SeededRandom("clientsInTurnsOutliveManyManagers");
        run.expectLine(AWAY); // in case this machine takes longer to start a manager than gates wait
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "20ms");
        List<RunningProgram> workers = workers(run, CLIENTS);
        List<Long> backMs = new ArrayList<>();
        int slow = 0;
        for (int kill = 0; kill < KILLS; kill++) {
            Await.sleep(Duration.ofMillis(random.below(300)));
            long[] heldNs = held(manager, workers);
            long killedNs = manager.kill();
            long before = run.witness().overlaps(0);
            manager = run.manager("--mode", "on", "--quantum", "20ms");
            long readyNs = System.nanoTime();
            awaitAll(manager, workers, "kill " + kill + ", seed " + random.seed());
            backMs.add((System.nanoTime() - readyNs) / 1_000_000);
            if (readyNs - killedNs > 4_500_000_000L) {
                slow++; // the gates have opened meanwhile
            } else {
                assertEquals(before, run.witness().overlaps(0), "overlaps after kill " + kill + ", seed " + random.seed() + ": "
                        + run.witness().firstOverlaps(0));
            }
            long[] now = held(manager, workers);
            for (int i = 0; i < CLIENTS; i++) {
                assertTrue(now[i] >= heldNs[i], "of the time that a client had the device some is lost: " + heldNs[i] + " ns, " + now[i]);
            }
        }
        for (RunningProgram worker : workers) {
            worker.tell("");
            worker.end().exits(0);
        }
        backMs.sort(null);
        System.out.println(KILLS + " managers killed; clients were back after ms (median, most): " + backMs.get(KILLS / 2) + ", " + backMs.getLast()
                + "; " + slow + " managers started slower than gates wait");
        assertTrue(slow < KILLS / 2, slow + " slow starts");
        assertTrue(backMs.get(KILLS / 2) <= 1000, backMs + " ms"); // single long ones are due to the machine
    }

    private static void awaitAll(ManagerProcess manager, List<RunningProgram> workers, String when) {
        Await.until("everybody is back, " + when, Await.PATIENCE, () -> {
            List<JsonObject> clients = manager.control().clients();
            return workers.stream().allMatch(worker -> clients.stream().anyMatch(client -> client.get("pid").getAsLong() == worker.pid()
                    && !client.get("devices").getAsJsonArray().isEmpty()));
        });
    }

    private static long[] held(ManagerProcess manager, List<RunningProgram> workers) {
        return workers.stream().mapToLong(worker -> manager.control().clientDevice(worker.pid()).get("heldNs").getAsLong()).toArray();
    }

    private static long[] executed(TestRun run, List<RunningProgram> workers) {
        return workers.stream().mapToLong(worker -> run.witness().executed(worker.pid(), 0)).toArray();
    }

    /** A turn is counted when it ends; a manager's death ends it, too. */
    @Test
    void timeOfTheTurnThatRanIsNotLost(TestRun run) {
        run.expectLine(AWAY);
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "100s");
        RunningProgram holder = worker(run, 0);
        Await.until("it has the turn", Await.PATIENCE, () -> run.witness().executed(holder.pid(), 0) > 0);
        long sinceNs = System.nanoTime();
        Await.sleep(Duration.ofMillis(2500));
        assertEquals(0, held(manager, List.of(holder))[0], "the turn is not over");
        long usedNs = manager.kill() - sinceNs;
        manager = run.manager("--mode", "on", "--quantum", "100s");
        awaitAll(manager, List.of(holder), "after the kill");
        long heldNs = held(manager, List.of(holder))[0];
        assertTrue(heldNs >= usedNs - 1_000_000_000L, heldNs + " ns of " + usedNs);
        holder.tell("");
        holder.end().exits(0);
    }

    /** Without another manager, the client that has the turn continues and the other one waits; after the timeout both run. */
    @Test
    void gatesOpenWhenNoManagerComes(TestRun run) {
        run.expectLine(AWAY);
        run.expectClientError("manager");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "10s");
        RunningProgram holder = worker(run, 0);
        Await.until("it has the turn", Await.PATIENCE, () -> run.witness().executed(holder.pid(), 0) > 0);
        RunningProgram other = worker(run, 1);
        Await.until("the other one waits", Await.PATIENCE,
                () -> manager.control().clientDevice(other.pid()).get("waitingNs").getAsLong() > 0);
        List<RunningProgram> both = List.of(holder, other);
        manager.kill();
        long killedNs = System.nanoTime();
        long[] before = executed(run, both);
        Await.sleep(Duration.ofMillis(3500));
        long[] later = executed(run, both);
        if (System.nanoTime() - killedNs < 4_500_000_000L) {
            assertTrue(later[0] > before[0] + 5, "the client that has the turn goes on: " + later[0] + " after " + before[0]);
            assertEquals(before[1], later[1], "a client that waits goes on waiting");
            assertEquals(List.of(), other.errors());
        }
        Await.until("both work", Await.PATIENCE, () -> {
            long[] now = executed(run, both);
            return now[0] > later[0] + 5 && now[1] > later[1] + 5;
        });
        long openedMs = (System.nanoTime() - killedNs) / 1_000_000;
        System.out.println("both worked " + openedMs + " ms after the manager was killed (timeout 5000 ms)");
        Await.until("both said so", Await.PATIENCE,
                () -> both.stream().allMatch(program -> program.errors().stream().anyMatch(line -> line.contains(AWAY))));
        for (RunningProgram program : both) {
            program.tell("");
            assertEquals(1, program.end().exits(0).libraryLines().size(), "one line");
        }
    }

    /** A manager that ends regularly holds no client back. */
    @Test
    void gatesOpenAtOnceWhenTheManagerEnds(TestRun run) {
        run.expectLine(AWAY);
        run.expectClientError("manager");
        ManagerProcess manager = run.manager("--mode", "on", "--quantum", "10s");
        List<RunningProgram> workers = workers(run, 2);
        assertEquals(0, manager.stop());
        long endedNs = System.nanoTime();
        long[] before = executed(run, workers);
        Await.until("both work", Await.PATIENCE, () -> {
            long[] now = executed(run, workers);
            return now[0] > before[0] + 5 && now[1] > before[1] + 5;
        });
        assertTrue(System.nanoTime() - endedNs < 4_000_000_000L, "they waited as for one that was killed");
        workers.forEach(worker -> worker.tell(""));
        workers.forEach(worker -> worker.end().exits(0));
    }
}
