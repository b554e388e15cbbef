package io.tessera.software.driver.work;

import io.tessera.software.driver.abi.CudaError;
import java.util.ArrayDeque;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/**
 * The threads that run tasks: a fixed number of workers for the device's own work, a growing number for the
 * program's callbacks, and one that polls words. Thread-safe; {@link #close} ends all of them.
 */
public final class Workers implements AutoCloseable {
    private final ExecutorService device;
    private final ExecutorService outside;
    private final FairQueue queue = new FairQueue();
    private final WordPoller poller;
    private final BiConsumer<Task, Throwable> reporter;
    private final ThreadLocal<ArrayDeque<Task>> here = new ThreadLocal<>();

    /**
     * Starts the threads.
     *
     * @param threads  number of workers, at least one
     * @param reporter told of an operation that failed in a way that no driver documents; its context is lost
     */
    public Workers(int threads, WordPoller poller, BiConsumer<Task, Throwable> reporter) {
        device = Executors.newFixedThreadPool(threads, named("software-gpu-worker-"));
        outside = Executors.newCachedThreadPool(named("software-gpu-callback-"));
        this.poller = poller;
        this.reporter = reporter;
    }

    private static ThreadFactory named(String prefix) {
        AtomicInteger next = new AtomicInteger();
        return body -> {
            Thread thread = new Thread(body, prefix + next.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        };
    }

    /** Who waits for words in memory. */
    public WordPoller poller() {
        return poller;
    }

    /** Runs a task that waits for nothing any more. */
    void ready(Task task) {
        switch (task.operation().place()) {
            case HERE -> runHere(task);
            case WORKER -> {
                queue.add(task);
                hand(device, task, () -> queue.next().run());
            }
            case OUTSIDE -> hand(outside, task, task::run);
            default -> throw new IllegalStateException("no such place");
        }
    }

    private void hand(ExecutorService threads, Task task, Runnable body) {
        try {
            threads.execute(body);
        } catch (RejectedExecutionException closed) {
            task.fault().raise(CudaError.DEINITIALIZED);
            runHere(task);
        }
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

    void failed(Task task, Throwable failure) {
        task.fault().raise(CudaError.LAUNCH_FAILED);
        reporter.accept(task, failure);
    }

    /** Ends the threads; what is queued is not run. */
    @Override
    public void close() {
        device.shutdownNow();
        outside.shutdownNow();
        poller.close();
    }
}
