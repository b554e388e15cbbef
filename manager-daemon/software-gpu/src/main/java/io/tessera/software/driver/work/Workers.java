package io.tessera.software.driver.work;

import io.tessera.device.CudaError;
import io.tessera.software.clock.DeviceClock;
import java.util.ArrayDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/**
 * The threads that run tasks: workers for the device's own work, a growing number for the program's callbacks, and one that polls words. Thread-safe;
 * {@link #close} ends all of them.
 *
 * <p>As on a GPU, a kernel that does not end does not keep other programs' kernels from running: if tasks wait and no worker takes one, more workers are
 * started, which share the processors until they have nothing to do.
 */
public final class Workers implements Task.Runner, AutoCloseable {
    /** Grids that a GPU of compute capability 7.5 or later runs at once (CUDA programming guide, "resident grids per device"). */
    private static final int MOST = 128;
    /** Tasks that wait for this long, while none is taken, wait behind work that takes long. */
    private static final long STUCK_MS = 20;
    /** A worker that came for them stays for this long without a task. */
    private static final long LINGER_MS = 1_000;

    private final AtomicInteger alive = new AtomicInteger();
    private final ThreadGroup device = new ThreadGroup("software-gpu");
    private final ThreadFactory deviceThreads = named(device, "software-gpu-worker-");
    private final ExecutorService outside;
    private final FairQueue queue;
    private final WordPoller poller;
    private final BiConsumer<Task, Throwable> reporter;
    private final ThreadLocal<ArrayDeque<Task>> here = new ThreadLocal<>();

    /**
     * Starts the threads.
     *
     * @param threads  number of workers, at least one
     * @param clock    tells how long tasks wait
     * @param reporter told of an operation that failed in a way that no driver documents; its context is lost
     */
    public Workers(int threads, DeviceClock clock, WordPoller poller, BiConsumer<Task, Throwable> reporter) {
        queue = new FairQueue(clock);
        outside = Executors.newCachedThreadPool(named(null, "software-gpu-callback-"));
        this.poller = poller;
        this.reporter = reporter;
        for (int i = 0; i < threads; i++) {
            work(Long.MAX_VALUE);
        }
        named(device, "software-gpu-watch-").newThread(this::watch).start();
    }

    /** Runs one more worker, which ends when it had no task for this long. */
    private void work(long millis) {
        alive.incrementAndGet();
        deviceThreads.newThread(() -> {
            try {
                for (Task task = queue.take(millis); task != null; task = queue.take(millis)) {
                    task.run();
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // closed
            } finally {
                alive.decrementAndGet();
            }
        }).start();
    }

    private void watch() {
        try {
            for (int streams = queue.awaitStuck(STUCK_MS, LINGER_MS); streams > 0; streams = queue.awaitStuck(STUCK_MS, LINGER_MS)) {
                for (int i = Math.min(streams, MOST - alive.get()); i > 0; i--) {
                    work(LINGER_MS);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    private static ThreadFactory named(ThreadGroup group, String prefix) {
        AtomicInteger next = new AtomicInteger();
        return body -> {
            Thread thread = new Thread(group, body, prefix + next.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public WordPoller poller() {
        return poller;
    }

    @Override
    public void ready(Task task) {
        switch (task.operation().place()) {
            case HERE -> runHere(task);
            case WORKER -> {
                if (!queue.add(task)) {
                    tooLate(task);
                }
            }
            case OUTSIDE -> {
                try {
                    outside.execute(task::run);
                } catch (RejectedExecutionException closed) {
                    tooLate(task);
                }
            }
            default -> throw new IllegalStateException("no such place");
        }
    }

    private void tooLate(Task task) {
        task.fault().raise(CudaError.DEINITIALIZED);
        runHere(task);
    }

    /** A chain of short tasks is run in a loop: each may make the next one ready, and the stack is finite. */
    private void runHere(Task task) {
        ArrayDeque<Task> queue = here.get();
        if (queue != null) {
            queue.add(task);
            return;
        }
        queue = new ArrayDeque<>();
        here.set(queue);
        try {
            for (Task next = task; next != null; next = queue.poll()) {
                next.run();
            }
        } finally {
            here.remove();
        }
    }

    @Override
    public void failed(Task task, Throwable failure) {
        task.fault().raise(CudaError.LAUNCH_FAILED);
        reporter.accept(task, failure);
    }

    /** Ends the threads; what is queued is not run. */
    @Override
    public void close() {
        queue.close();
        device.interrupt();
        outside.shutdownNow();
        poller.close();
    }
}
