package io.tessera.executor.worker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.clock.Clocks;
import io.tessera.device.CudaResult;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.guardian.fence.FenceMode;
import io.tessera.guardian.fence.plan.PlainFunctions;
import io.tessera.guardian.image.ComputeCapability;
import io.tessera.protocol.WorkerVariables;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Workers that are killed, that hang, and that get invalid input: real processes. */
@Timeout(300)
class WorkerPoolTest {
    private static final FenceRequest MASK = new FenceRequest(FenceMode.MASK, new ComputeCapability(9, 0), false, Optional.empty(),
            PlainFunctions.none());

    private static Answer fence(WorkerPool pool, String tenant, byte[] code) {
        return pool.fence(tenant, MASK, List.of(code));
    }

    private static CompletableFuture<Answer> later(WorkerPool pool, String tenant, byte[] code) {
        return CompletableFuture.supplyAsync(() -> fence(pool, tenant, code), task -> Thread.ofPlatform().daemon().start(task));
    }

    private static void assertServed(WorkerPool pool, String tenant) {
        Answer answer = fence(pool, tenant, HostileCode.ordinary("work"));
        assertEquals(CudaResult.SUCCESS, answer.result(), answer.text());
        assertTrue(new String(answer.parts().getFirst(), StandardCharsets.US_ASCII).contains("__tessera_window"));
    }

    private static void await(BooleanSupplier condition, String what) throws InterruptedException {
        for (int i = 0; i < 4_000 && !condition.getAsBoolean(); i++) {
            Thread.sleep(10);
        }
        assertTrue(condition.getAsBoolean(), what);
    }

    private static void signal(long pid, String signal) throws Exception {
        assertEquals(0, new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor());
    }

    /** Returns the pool's only worker, which gets the next job; where others were started on a machine that is busy, all end and one is started again. */
    private static long onlyWorker(WorkerPool pool) throws Exception {
        for (int left = 10; left > 0; left--) {
            assertServed(pool, "a");
            List<Long> workers = pool.pids();
            if (workers.size() == 1) {
                return workers.getFirst();
            }
            for (long each : workers) {
                signal(each, "KILL");
            }
        }
        throw new AssertionError("there is never one worker alone, but " + pool.pids());
    }

    /** Loops in each other, until a job takes some seconds at least. */
    private static byte[] slow() {
        return HostileCode.nestedLoops(30_000);
    }

    @Test
    void oneProcessServesOneJobAfterTheOther() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(60)) {
            pool.expect();
            assertServed(pool, "a");
            List<Long> first = pool.pids();
            assertServed(pool, "b");
            assertEquals(1, first.size());
            assertEquals(first, pool.pids());
        }
    }

    @Test
    void aWorkerHasNothingOfTheExecutorButItsPipesAndAFewVariables() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(60)) {
            Path process = Path.of("/proc", Long.toString(onlyWorker(pool)));
            try (var descriptors = Files.list(process.resolve("fd"))) {
                for (Path descriptor : descriptors.toList()) {
                    String target = Files.readSymbolicLink(descriptor).toString();
                    assertTrue(target.startsWith("pipe:") || target.endsWith(".jar") || target.contains("/lib/")
                            || target.startsWith("/dev/") || target.contains("eventpoll"), descriptor + " -> " + target);
                }
            }
            String environment = Files.readString(process.resolve("environ"), StandardCharsets.ISO_8859_1);
            assertTrue(environment.contains("CUDA_MODULE_LOADING=LAZY"), environment);
            assertFalse(environment.contains("JAVA_HOME=") || environment.contains("PATH="), environment);
            String limits = Files.readString(process.resolve("limits"));
            assertTrue(limits.lines().anyMatch(line -> line.startsWith("Max data size") && !line.contains("unlimited")), limits);
            assertTrue(limits.lines().anyMatch(line -> line.matches("Max core file size +0 +0 .*")), limits);
        }
    }

    /** A new worker costs one job; a new executor would cost every client everything. */
    @Test
    void aWorkerEndsBeforeTheExecutorWhereMemoryRunsOut() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(60)) {
            Path score = Path.of("/proc", Long.toString(onlyWorker(pool)), "oom_score_adj");
            assertServed(pool, "a");
            assertEquals("900", Files.readString(score).strip());
        }
    }

    @Test
    void codeThatTakesTooMuchCostsItsTenantAnErrorAlone() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(20)) {
            for (byte[] code : List.of(HostileCode.largeParameter(), HostileCode.manyRegisters(), HostileCode.nestedLoops(30_000),
                    HostileCode.nestedBlocks(200_000), HostileCode.zipBomb(1L << 30), HostileCode.zipBomb(200L << 20))) {
                CompletableFuture<Answer> job = later(pool, "hostile", code);
                assertServed(pool, "neighbour");
                Answer answer = job.get(60, TimeUnit.SECONDS);
                assertTrue(answer.result() == CudaResult.SUCCESS || !answer.text().isBlank(), "nobody says what happened");
            }
            assertServed(pool, "hostile");
        }
    }

    @Test
    void aClientThatIsGoneKeepsNoWorker() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(60)) {
            List<Answer> answers = new CopyOnWriteArrayList<>();
            Thread client = Thread.ofPlatform().start(() -> {
                answers.add(fence(pool, "a", slow()));
                answers.add(fence(pool, "a", slow()));
            });
            await(() -> pool.hasBegun("a"), "the job begins");
            pool.abandon(client);
            client.join(Duration.ofSeconds(10));
            assertEquals(List.of(CudaResult.UNKNOWN, CudaResult.UNKNOWN), answers.stream().map(Answer::result).toList(), answers::toString);
            assertServed(pool, "a");
        }
    }

    @Test
    void aWorkerThatIsKilledInTheMiddleOfAJobCostsThatJobAlone() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(60)) {
            long pid = onlyWorker(pool);
            signal(pid, "STOP"); // so that the job is surely under way
            CompletableFuture<Answer> job = later(pool, "a", HostileCode.ordinary("work"));
            await(() -> pool.isAsked(pid), "the job has its worker");
            assertServed(pool, "neighbour");
            signal(pid, "CONT");
            assertEquals(CudaResult.SUCCESS, job.get(60, TimeUnit.SECONDS).result(), "nothing has happened to it");

            CompletableFuture<Answer> lost = later(pool, "a", slow());
            Set<Long> killed = killAllThatHave(pool, "a", Set.of());
            killAllThatHave(pool, "a", killed); // the job has begun again, and does so once
            Answer answer = lost.get(60, TimeUnit.SECONDS);
            assertEquals(CudaResult.INVALID_PTX, answer.result(), answer.text());
            assertTrue(answer.text().contains("has ended (137"), answer.text());
            assertServed(pool, "a");
            assertServed(pool, "neighbour");
        }
    }

    /** Waits until one has a tenant's job that was not killed before, and kills all. */
    private static Set<Long> killAllThatHave(WorkerPool pool, String tenant, Set<Long> before) throws Exception {
        await(() -> pool.hasBegun(tenant) && pool.pids().stream().anyMatch(pid -> !before.contains(pid) && pool.isAsked(pid)), "the job begins");
        Set<Long> killed = new HashSet<>(pool.pids());
        for (long each : killed) {
            if (!before.contains(each)) {
                signal(each, "KILL");
            }
        }
        return killed;
    }

    @Test
    void aWorkerThatHasEndedWhileNobodyLookedCostsNobodyAnything() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(60)) {
            long pid = onlyWorker(pool);
            signal(pid, "KILL");
            assertServed(pool, "a");
            assertNotEquals(List.of(pid), pool.pids());
        }
    }

    @Test
    void aWorkerThatStandsIsEndedAndItsTenantToldWhy() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(20)) { // what is no fault has to be done within that on a busy machine, too
            long pid = onlyWorker(pool);
            signal(pid, "STOP");
            CompletableFuture<Answer> job = later(pool, "a", HostileCode.ordinary("work"));
            await(() -> pool.isAsked(pid), "the job has its worker");
            Answer answer = job.get(60, TimeUnit.SECONDS);
            assertEquals(CudaResult.INVALID_PTX, answer.result());
            assertTrue(answer.text().contains("within 20 s") && answer.text().contains(WorkerVariables.SECONDS), answer.text());
            assertServed(pool, "a");
        }
    }

    @Test
    void aTenantWhoseJobsTakeForEverHasOneWorkerAlone() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(600)) { // longer than the neighbour's jobs take together
            long pid = onlyWorker(pool);
            signal(pid, "STOP");
            CompletableFuture<Answer> first = later(pool, "hostile", HostileCode.ordinary("work"));
            CompletableFuture<Answer> second = later(pool, "hostile", HostileCode.ordinary("work"));
            await(() -> pool.isAsked(pid), "the job has the worker, which nobody else gets then");
            for (int i = 0; i < 5; i++) {
                assertServed(pool, "neighbour");
            }
            assertFalse(first.isDone() || second.isDone());
        }
    }

    @Test
    void anIdleWorkerEndsAndWhoComesLaterGetsAnother() throws Exception {
        WorkerSettings settings = TestWorkers.settings(60, 1);
        try (WorkerPool pool = new WorkerPool(settings, Clocks.system().monotonic())) {
            assertServed(pool, "a");
            long pid = pool.pids().getFirst();
            await(() -> pool.pids().isEmpty() && !ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false), "it ends");
            assertServed(pool, "a");
        }
    }

    @Test
    void workersEndWithTheirPool() throws Exception {
        WorkerPool pool = TestWorkers.pool(60);
        long pid = onlyWorker(pool);
        pool.close();
        assertFalse(ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false));
    }

    @Test
    void textIsAssembledByADriverOfTheWorkersOwn() throws Exception {
        try (WorkerPool pool = TestWorkers.pool(60)) {
            Answer fenced = fence(pool, "a", HostileCode.ordinary("work"));
            Answer assembled = pool.assemble("a", fenced.parts().getFirst(), CodeOptions.none());
            assertEquals(CudaResult.SUCCESS, assembled.result(), assembled.text());
        }
    }
}
