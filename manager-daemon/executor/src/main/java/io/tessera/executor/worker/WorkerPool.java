package io.tessera.executor.worker;

import io.tessera.clock.NanoClock;
import io.tessera.device.CudaResult;
import io.tessera.executor.jit.CodeOptions;
import io.tessera.executor.jit.LinkerInput;
import io.tessera.protocol.WorkerVariables;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of an executor: at most as many processes as the settings say, each with one job at a time; waiting jobs are served in the order of
 * {@link TenantTurns}. A job that takes too long, or takes too much memory, or crashes its process ends that process and is answered with an error; the next
 * job gets another process. Thread-safe.
 */
public final class WorkerPool implements CodeWorkers {
    /** Time from the start of a JVM to its first message, on a busy machine. */
    private static final long START_NS = 60_000_000_000L;
    /** Longest wait for a free worker; a longer one means that something is wrong. */
    private static final long QUEUE_NS = 600_000_000_000L;
    /** As above, for a worker with a context of the device, which takes memory there. */
    private static final long IDLE_WITH_DRIVER_NS = 10_000_000_000L;
    private static final long LOOK_MS = 500;
    private static final int MOST_STARTS = 5;
    /**
     * Maximum size of short jobs, which mostly take less than a second: NVIDIA's assembler reads some 100 KiB in that time. A text of this size that is
     * crafted to take longer can only occupy the places for short jobs.
     */
    private static final long SHORT_BYTES = 64 << 10;
    /** Exit code of a process that SIGKILL has ended, as a shell and Java's Process give it. */
    private static final int EXIT_KILLED = 128 + 9;
    private static final Logger LOG = LoggerFactory.getLogger(WorkerPool.class);

    private final WorkerSettings settings;
    private final NanoClock clock;
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(
            task -> Thread.ofPlatform().name("worker-watch").daemon().unstarted(task));
    private final TenantTurns turns;
    /** Under the lock of this, as what follows. */
    private final Deque<WorkerProcess> idle = new ArrayDeque<>();
    private final List<WorkerProcess> alive = new ArrayList<>();
    /** Tenants with a job that a worker has begun. */
    private final Set<String> begun = new HashSet<>();
    /** The worker for which a client's thread waits. */
    private final Map<Thread, WorkerProcess> asking = new ConcurrentHashMap<>();
    /** Threads whose clients have left. */
    private final Set<Thread> gone = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));
    private boolean starting;
    private volatile boolean closed;

    /** Creates a pool without workers. */
    public WorkerPool(WorkerSettings settings, NanoClock clock) {
        this.settings = settings;
        this.clock = clock;
        this.turns = new TenantTurns(settings.most(), QUEUE_NS, clock);
        watch.scheduleWithFixedDelay(this::endIdle, LOOK_MS, LOOK_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void abandon(Thread client) {
        gone.add(client);
        asking.computeIfPresent(client, (_, worker) -> {
            worker.kill();
            return worker;
        });
        turns.wake();
    }

    @Override
    public boolean isAbandoned(Thread client) {
        return gone.contains(client);
    }

    private boolean isGone() {
        return isAbandoned(Thread.currentThread());
    }

    private static Answer abandoned() {
        return new Answer(CudaResult.UNKNOWN, "its program has ended", List.of());
    }

    @Override
    public Answer fence(String tenant, FenceRequest request, List<byte[]> images) {
        return run(tenant, FenceJob.message(request, images));
    }

    @Override
    public Answer assemble(String tenant, byte[] text, CodeOptions options) {
        return run(tenant, AssembleJob.message(text, options));
    }

    @Override
    public Answer link(String tenant, List<LinkerInput> inputs, CodeOptions options) {
        return run(tenant, AssembleJob.message(inputs, options));
    }

    private Answer run(String tenant, Message job) {
        if (job.bytes() > settings.mostJobBytes()) {
            return new Answer(CudaResult.OUT_OF_MEMORY, "code of " + job.bytes() + " bytes is more than the " + settings.mostJobBytes()
                    + " that are read in space sharing; load it in parts, or run the program with --share time", List.of());
        }
        if (!turns.await(tenant, job.bytes() <= SHORT_BYTES, () -> closed || isGone())) {
            return isGone() ? abandoned()
                    : new Answer(CudaResult.OUT_OF_MEMORY, "other programs' code has held all workers for " + QUEUE_NS / 1_000_000_000L
                            + " s; start the program again when they have begun to work", List.of());
        }
        long beginNs = clock.nanoTime();
        try {
            return inTurn(tenant, job);
        } catch (IOException e) {
            LOG.error("no worker can be started: {}", e.getMessage());
            return new Answer(CudaResult.OUT_OF_MEMORY, "no process can be started that reads its code: " + e.getMessage(), List.of());
        } finally {
            turns.ended(tenant, clock.nanoTime() - beginNs);
        }
    }

    /**
     * Runs a job in its tenant's turn. If a worker ended before it got the job, another one takes the job. If a worker was killed from outside, the job is
     * started once more, because it was probably not the cause.
     */
    private Answer inTurn(String tenant, Message job) throws IOException {
        boolean mayBeKilled = true;
        for (int left = MOST_STARTS; true; left--) {
            if (isGone()) {
                return abandoned();
            }
            WorkerProcess worker;
            try {
                worker = take();
            } catch (IOException e) {
                if (left > 1) {
                    continue;
                }
                throw e;
            }
            Answer answer = ask(tenant, worker, job, left > 1, mayBeKilled);
            if (answer != null) {
                return answer;
            }
            mayBeKilled = false;
        }
    }

    /** Has a worker execute a job. Returns null if another worker may have the job: this one ended before the job had begun, or was killed from outside. */
    private Answer ask(String tenant, WorkerProcess worker, Message job, boolean again, boolean mayBeKilled) {
        AtomicBoolean late = new AtomicBoolean();
        ScheduledFuture<?> limit = watch(worker, settings.jobNs(job.bytes()), late);
        boolean begun = false;
        asking.put(Thread.currentThread(), worker);
        try {
            if (isGone()) {
                worker.kill(); // the client was abandoned before this worker was entered in the map
            }
            worker.begin(job);
            begun = true;
            begun(tenant, true);
            Message answer = worker.answer();
            asking.remove(Thread.currentThread()); // from now on another thread may use the worker
            if (limit.cancel(false)) {
                giveBack(worker);
            } else {
                remove(worker);
            }
            return new Answer(answer.numbers().getFirst().intValue(), answer.text(), answer.parts());
        } catch (IOException e) {
            limit.cancel(false);
            int exit = exit(worker);
            if (isGone()) {
                return abandoned();
            }
            boolean another = again && !late.get() && exit != WorkerMain.EXIT_MEMORY && (!begun || mayBeKilled && exit == EXIT_KILLED);
            return another ? null : failed(tenant, worker, exit, late.get(), job);
        } finally {
            asking.remove(Thread.currentThread());
            begun(tenant, false);
        }
    }

    /** Ends a worker whose pipe can no longer be used, unless it ends by itself. */
    private int exit(WorkerProcess worker) {
        int exit = worker.exitCode();
        remove(worker);
        return exit;
    }

    private Answer failed(String tenant, WorkerProcess worker, int exit, boolean late, Message job) {
        String what;
        int result = CudaResult.INVALID_PTX;
        if (late) {
            what = "its code was not read and compiled within " + settings.jobNs(job.bytes()) / 1_000_000_000L
                    + " s; a manager with a larger " + WorkerVariables.SECONDS + " gives it longer";
        } else if (exit == WorkerMain.EXIT_MEMORY) {
            result = CudaResult.OUT_OF_MEMORY;
            what = "reading its code takes more memory than " + (settings.heapBytes() >> 20) + " MiB; a manager with a larger "
                    + WorkerVariables.MEMORY + " gives it more";
        } else {
            String output = worker.lastWords();
            what = "the process that read and compiled its code has ended (" + exit + (output.isEmpty() ? "" : ": " + output) + ")";
        }
        LOG.warn("tenant \"{}\": {} (worker {}, {} of {} bytes)", tenant, what, worker.pid(), job.kind(), job.bytes());
        return new Answer(result, what, List.of());
    }

    private ScheduledFuture<?> watch(WorkerProcess worker, long limitNs, AtomicBoolean late) {
        return watch.schedule(() -> {
            late.set(true);
            worker.kill();
        }, limitNs, TimeUnit.NANOSECONDS);
    }

    /** Returns a worker that is ready. */
    private WorkerProcess take() throws IOException {
        synchronized (this) {
            while (starting) {
                waitForStart();
            }
            for (WorkerProcess worker = idle.poll(); worker != null; worker = idle.poll()) {
                if (worker.isAlive()) {
                    return worker;
                }
                alive.remove(worker);
            }
        }
        return start();
    }

    private void waitForStart() throws IOException {
        try {
            wait(START_NS / 1_000_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the executor ends", e);
        }
    }

    private WorkerProcess start() throws IOException {
        long beginNs = clock.nanoTime();
        WorkerProcess worker = WorkerProcess.start(settings);
        synchronized (this) {
            alive.add(worker);
            if (closed) {
                worker.kill();
            }
        }
        AtomicBoolean late = new AtomicBoolean();
        ScheduledFuture<?> limit = watch(worker, START_NS, late);
        try {
            worker.awaitReady();
        } catch (IOException e) {
            int exit = exit(worker);
            throw new IOException("a worker has ended before its first job (" + (late.get() ? "it did not come up" : exit + ": "
                    + worker.lastWords()) + ")", e);
        } finally {
            limit.cancel(false);
        }
        LOG.info("worker {} is ready after {} ms", worker.pid(), (clock.nanoTime() - beginNs) / 1_000_000);
        return worker;
    }

    private synchronized void giveBack(WorkerProcess worker) {
        worker.idleSince(clock.nanoTime());
        idle.push(worker);
    }

    private void remove(WorkerProcess worker) {
        worker.kill();
        synchronized (this) {
            alive.remove(worker);
        }
    }

    /** Starts a worker if there is none, without blocking. */
    @Override
    public void expect() {
        synchronized (this) {
            if (closed || starting || !alive.isEmpty()) {
                return;
            }
            starting = true;
        }
        Thread.ofPlatform().name("worker-start").daemon().start(this::startAhead);
    }

    private void startAhead() {
        WorkerProcess worker = null;
        try {
            worker = start();
        } catch (IOException e) {
            LOG.warn("no worker was started ahead: {}", e.getMessage());
        } finally {
            synchronized (this) {
                starting = false;
                if (worker != null) {
                    giveBack(worker);
                }
                notifyAll();
            }
        }
    }

    private void endIdle() {
        long nowNs = clock.nanoTime();
        List<WorkerProcess> ending = new ArrayList<>();
        synchronized (this) {
            for (WorkerProcess worker : idle) {
                long mostNs = worker.hasDriver() ? IDLE_WITH_DRIVER_NS : settings.idleSeconds() * 1_000_000_000L;
                if (nowNs - worker.idleSinceNs() > mostNs || !worker.isAlive()) {
                    ending.add(worker);
                }
            }
            idle.removeAll(ending);
        }
        ending.forEach(this::remove);
    }

    private synchronized void begun(String tenant, boolean now) {
        if (now) {
            begun.add(tenant);
        } else {
            begun.remove(tenant);
        }
    }

    /** Returns whether a worker has a tenant's job. */
    synchronized boolean hasBegun(String tenant) {
        return begun.contains(tenant);
    }

    /** Returns whether a client's thread waits for a worker. */
    boolean isAsked(long pid) {
        return asking.values().stream().anyMatch(worker -> worker.pid() == pid);
    }

    /** Returns the ids of its processes, for tests. */
    synchronized List<Long> pids() {
        return alive.stream().map(WorkerProcess::pid).toList();
    }

    @Override
    public void close() {
        List<WorkerProcess> ending;
        synchronized (this) {
            closed = true;
            ending = List.copyOf(alive);
            notifyAll();
        }
        turns.wake();
        ending.forEach(WorkerProcess::end);
        watch.shutdownNow();
    }
}
