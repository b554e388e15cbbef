package io.tessera.system.space;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import io.tessera.system.Await;
import io.tessera.system.ManagerProcess;
import io.tessera.system.ProcessSignals;
import io.tessera.system.ProgramResult;
import io.tessera.system.RunWatcher;
import io.tessera.system.RunningProgram;
import io.tessera.system.SeededRandom;
import io.tessera.system.TestRun;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Space sharing when clients, executors and managers die, stop, flood or write invalid data. */
@ExtendWith(RunWatcher.class)
class RelayFaultsTest {
    private static final Duration BOUND = Duration.ofSeconds(60);
    /** Bound on the wait for freed objects: an executor reports once a second, and work of a dead client may take up to 10 s to end. */
    private static final Duration FREED = Await.PATIENCE;
    /** Bound on the replacement of an executor: one second, plus the delays of a loaded machine. */
    private static final Duration REPLACED = Duration.ofSeconds(5);
    private static final String[] MODES = {"launches", "copies", "allocations", "mixed"};
    private static final int KILLS = 24;
    private static final int CLIENTS = Boolean.getBoolean("tessera.long") ? 50 : 20;
    /** Far longer than a call takes on any machine, and far shorter than a wait for another client's work. */
    private static final long LONGEST_MEDIAN_NS = 20_000_000L;

    private static RunningProgram worker(TestRun run, String mode, long seed, int rounds) {
        return run.program("relay_worker", mode, Long.toString(seed), Integer.toString(rounds))
                .env("TESSERA_SHARE", "space").tenant(mode + "-" + seed).start();
    }

    /** Starts a program that works until it is told to end, some hundred rounds a second, which leaves the processors to the test. */
    private static RunningProgram bystander(TestRun run, int seed) {
        return run.program("relay_worker", "mixed", Integer.toString(seed), "0").env("TESSERA_SHARE", "space")
                .env("RELAY_WORKER_PAUSE_US", "2000").tenant("bystander-" + seed).start().awaitLine("ready");
    }

    private static JsonObject executor(ManagerProcess manager) {
        return manager.control().status().getAsJsonArray("executors").get(0).getAsJsonObject();
    }

    private static long executorPid(ManagerProcess manager) {
        return executor(manager).get("pid").getAsLong();
    }

    private static void endsRight(RunningProgram worker) {
        worker.tell("");
        ProgramResult result = worker.end(BOUND).exits(0);
        assertTrue(result.output().getLast().matches("right [1-9]\\d*"), result::toString);
    }

    private static void allIsFreed(ManagerProcess manager) {
        Await.until("all memory is free again", FREED, () -> {
            JsonObject executor = executor(manager);
            return executor.get("usedBytes").getAsLong() == 0 && executor.getAsJsonArray("clients").isEmpty();
        }, () -> executor(manager).toString());
    }

    /** A stopped executor will not continue, so its programs are told that it is gone, and new ones get another executor. */
    @Test
    void anExecutorThatWasStoppedIsReplacedAfterASecond(TestRun run) {
        ManagerProcess manager = run.manager(ManagerProcess.AS_USERS, "--executors", "nvidia");
        run.expectLog("executor");
        run.expectClientError("the executor is gone");
        run.expectLine("the executor is gone: every later CUDA call fails");
        RunningProgram hears = run.program("relay_lost").env("TESSERA_SHARE", "space").start().awaitLine("ready");
        long pid = executorPid(manager);
        long stoppedNs = System.nanoTime();
        ProcessSignals.send(pid, ProcessSignals.STOP);
        hears.end(BOUND).exits(0).says("lost");
        System.out.println("a stopped executor was ended " + (System.nanoTime() - stoppedNs) / 1_000_000 + " ms later");
        assertTrue(System.nanoTime() - stoppedNs < REPLACED.toNanos());
        worker(run, "mixed", 2, 5).end(BOUND).exits(0).says("right 5");
        assertNotEquals(pid, executorPid(manager));
        allIsFreed(manager);
    }

    @Test
    void clientsKilledAtAnyMomentHarmNobodyAndLeaveNothing(TestRun run) {
        SeededRandom random = new SeededRandom("clientsKilledAtAnyMomentHarmNobodyAndLeaveNothing");
        ManagerProcess manager = run.manager(ManagerProcess.AS_USERS, "--executors", "nvidia");
        List<RunningProgram> others = List.of(bystander(run, 1), bystander(run, 2));
        long pid = executorPid(manager);
        for (int round = 0; round < KILLS; round++) {
            RunningProgram victim = worker(run, MODES[round % MODES.length], random.below(1 << 30), 0);
            if (round % 6 != 5) { // otherwise it may be killed before it is connected to its executor
                victim.awaitLine("ready");
            }
            Await.sleep(Duration.ofMillis(random.below(40)));
            victim.kill();
        }
        others.forEach(RelayFaultsTest::endsRight);
        assertEquals(pid, executorPid(manager), "the executor was restarted, seed " + random.seed());
        allIsFreed(manager);
    }

    @Test
    void aKilledExecutorIsStartedAgainForNewClients(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        run.expectLog("executor");
        run.expectClientError("the executor is gone");
        run.expectLine("the executor is gone: every later CUDA call fails");
        for (int round = 0; round < 2; round++) {
            RunningProgram program = run.program("relay_lost").env("TESSERA_SHARE", "space").start().awaitLine("ready");
            long pid = executorPid(manager);
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
            program.end(BOUND).exits(0).says("lost");
            worker(run, "mixed", round, 5).end(BOUND).exits(0).says("right 5");
            assertNotEquals(pid, executorPid(manager));
        }
        allIsFreed(manager);
    }

    /**
     * All programs are connected before the first one leaves, with windows, sinks of 66 MiB and memory in steps of 64 MiB. Connected programs leave the
     * processors to the others.
     */
    @Test
    void manyClientsAtOnce(TestRun run) {
        ManagerProcess manager = run.manager(Map.of("TESSERA_SCRIPT", "memory 8GiB"), "--executors", "nvidia");
        List<RunningProgram> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(run.program("relay_worker", MODES[i % MODES.length], Integer.toString(i), "0").env("TESSERA_SHARE", "space")
                    .env("RELAY_WORKER_PAUSE_US", "500000").tenant("client-" + i).start());
        }
        clients.forEach(client -> client.awaitLine("ready"));
        clients.forEach(client -> client.tell(""));
        for (RunningProgram client : clients) {
            ProgramResult result = client.end(BOUND).exits(0);
            assertTrue(result.output().getLast().matches("right [1-9]\\d*"), result::toString);
        }
        allIsFreed(manager);
    }

    /** A stopped client, which reads no answer and writes no word, does not delay others, and continues where it stopped. */
    @Test
    void aStoppedClientDisturbsNobody(TestRun run) {
        SeededRandom random = new SeededRandom("aStoppedClientDisturbsNobody");
        ManagerProcess manager = run.manager("--executors", "nvidia");
        for (String mode : MODES) {
            RunningProgram stopped = worker(run, mode, random.below(1 << 30), 0).awaitLine("ready");
            Await.sleep(Duration.ofMillis(random.below(50)));
            ProcessSignals.send(stopped.process(), ProcessSignals.STOP);
            worker(run, "mixed", random.below(1 << 30), 20).end(BOUND).exits(0).says("right 20");
            ProcessSignals.send(stopped.process(), ProcessSignals.CONT);
            endsRight(stopped);
        }
        allIsFreed(manager);
    }

    @Test
    void aFloodedRingDelaysNobodyForLong(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        long[] alone = rounds(run);
        RunningProgram flood = run.program("relay_rounds", "flood").env("TESSERA_SHARE", "space").start()
                .awaitLine("flooding");
        long[] beside = rounds(run);
        System.out.println("round trips, median and longest in us: alone " + alone[0] / 1000 + ", " + alone[1] / 1000
                + "; beside a flood " + beside[0] / 1000 + ", " + beside[1] / 1000);
        assertTrue(beside[0] < LONGEST_MEDIAN_NS, beside[0] + " ns at the median");
        assertTrue(flood.process().isAlive(), () -> "the flood ended: " + flood.errors());
        flood.kill();
        allIsFreed(manager);
    }

    private static long[] rounds(TestRun run) {
        ProgramResult result = run.program("relay_rounds", "measure", "500").env("TESSERA_SHARE", "space").start()
                .end(BOUND).exits(0);
        String[] words = result.output().getFirst().split(" ");
        return new long[] {Long.parseLong(words[0]), Long.parseLong(words[1])};
    }

    /** Whatever a client writes into its segment only harms that client. */
    @Test
    void rubbishInASegmentEndsItsClientAlone(TestRun run) {
        SeededRandom random = new SeededRandom("rubbishInASegmentEndsItsClientAlone");
        ManagerProcess manager = run.manager("--executors", "nvidia");
        run.expectLog("client");
        run.expectClientError("");
        run.expectLine("");
        RunningProgram other = bystander(run, 1);
        long pid = executorPid(manager);
        for (String part : List.of("ring", "claimed", "replies", "header", "words", "all")) {
            for (int round = 0; round < 3; round++) {
                RunningProgram hostile = run.program("relay_hostile", part, Integer.toString(random.below(1 << 30)))
                        .env("TESSERA_SHARE", "space").start();
                hostile.awaitLine("spoilt");
                Await.sleep(Duration.ofMillis(200));
                hostile.close(); // it may wait for ever for a reply that it has destroyed itself
            }
            assertEquals(pid, executorPid(manager), "the executor was restarted by " + part + ", seed " + random.seed());
        }
        endsRight(other);
        assertEquals(pid, executorPid(manager), "the executor was restarted, seed " + random.seed());
        worker(run, "mixed", 2, 5).end(BOUND).exits(0).says("right 5");
        allIsFreed(manager);
    }

    /** Connections of unannounced processes do not affect clients, and only cause a few lines in the log. */
    @Test
    void strangersOnTheSocketEndNoClientAndFillNoLog(TestRun run) throws IOException {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        RunningProgram first = bystander(run, 1);
        String socket = run.runtimeDirectory().resolve("executors/executor-0.sock").toString();
        RunningProgram hoarder = run.program("raw_client", socket, "hoard", "300").without("LD_PRELOAD").start()
                .awaitLine("hoarded");
        worker(run, "mixed", 2, 5).end(BOUND).exits(0).says("right 5");
        run.program("raw_client", socket, "knock", "2000").without("LD_PRELOAD").run().exits(0).says("knocked");
        endsRight(first);
        hoarder.close();
        List<String> refused = Files.readAllLines(run.runtimeDirectory().resolve("executors/executor-0.log")).stream()
                .filter(line -> line.contains("is refused")).toList();
        assertTrue(!refused.isEmpty() && refused.size() < 200, () -> refused.size() + " lines: " + refused.getFirst());
        allIsFreed(manager);
    }

    /** If many programs start at once, seconds may pass between a connection and its first packet. */
    @Test
    void aNewcomerMayBeLate(TestRun run) {
        ManagerProcess manager = run.manager("--executors", "nvidia");
        RunningProgram other = bystander(run, 1);
        String socket = run.runtimeDirectory().resolve("executors/executor-0.sock").toString();
        run.program("raw_client", socket, "late", "7").without("LD_PRELOAD").run().exits(0).says("open");
        endsRight(other);
        allIsFreed(manager);
    }

    /** Connections that send nothing do not block the control socket for others. */
    @Test
    void idleConnectionsLockNobodyOutOfTheControlSocket(TestRun run) throws IOException {
        ManagerProcess manager = run.manager("--executors", "none");
        UnixDomainSocketAddress control = UnixDomainSocketAddress.of(run.runtimeDirectory().resolve("control.sock"));
        List<SocketChannel> idle = new ArrayList<>();
        try {
            for (int i = 0; i < 64; i++) {
                idle.add(SocketChannel.open(control));
            }
            assertTrue(manager.control().okay("{\"request\":\"ping\"}").get("ok").getAsBoolean());
        } finally {
            for (SocketChannel channel : idle) {
                channel.close();
            }
        }
    }

    /** Invalid packets on the executor's own socket. */
    @Test
    void rubbishOnTheSocketIsRefused(TestRun run) {
        SeededRandom random = new SeededRandom("rubbishOnTheSocketIsRefused");
        ManagerProcess manager = run.manager("--executors", "nvidia");
        run.expectLog("connection|executor|client");
        RunningProgram other = bystander(run, 1);
        long pid = executorPid(manager);
        String socket = run.runtimeDirectory().resolve("executors/executor-0.sock").toString();
        for (String mode : List.of("good", "short", "empty", "type", "device-first", "flood", "flood", "flood")) {
            run.program("raw_client", socket, mode, Integer.toString(random.below(1 << 30))).without("LD_PRELOAD").run()
                    .exits(0);
        }
        endsRight(other);
        assertEquals(pid, executorPid(manager), "seed " + random.seed());
    }
}
