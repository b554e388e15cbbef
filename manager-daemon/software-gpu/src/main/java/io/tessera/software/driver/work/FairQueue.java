package io.tessera.software.driver.work;

import io.tessera.software.clock.DeviceClock;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Tasks that wait for a worker, by their stream. Streams take turns, so a graph of a hundred thousand ready kernels does not delay other streams. Thread-safe.
 */
final class FairQueue {
    private final DeviceClock clock;
    private final Map<Output, ArrayDeque<Task>> waiting = new LinkedHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition arrived = lock.newCondition();
    private final Condition busy = lock.newCondition();
    /** When a task was last taken, or when the first of the waiting ones was added. */
    private long movedNs;
    private boolean watched;
    private boolean closed;

    FairQueue(DeviceClock clock) {
        this.clock = clock;
    }

    /** Returns whether it will be taken: not once the queue is closed. */
    boolean add(Task task) {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            if (waiting.isEmpty()) {
                movedNs = clock.nowNs();
            }
            waiting.computeIfAbsent(task.output(), _ -> new ArrayDeque<>()).add(task);
            arrived.signal();
            if (!watched) {
                busy.signal();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the next task and takes it.
     *
     * @param millis maximum wait
     * @return null: none came in time, or the queue is closed
     */
    Task take(long millis) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long leftNs = TimeUnit.MILLISECONDS.toNanos(millis);
            while (waiting.isEmpty() && !closed) {
                if (leftNs <= 0) {
                    return null;
                }
                leftNs = arrived.awaitNanos(leftNs);
            }
            return closed ? null : next();
        } finally {
            lock.unlock();
        }
    }

    private Task next() {
        movedNs = clock.nowNs();
        Iterator<Map.Entry<Output, ArrayDeque<Task>>> each = waiting.entrySet().iterator();
        Map.Entry<Output, ArrayDeque<Task>> first = each.next();
        each.remove();
        ArrayDeque<Task> tasks = first.getValue();
        Task task = tasks.poll();
        if (!tasks.isEmpty()) {
            waiting.put(first.getKey(), tasks);
        }
        return task;
    }

    /**
     * Waits until tasks wait and none was taken for this long.
     *
     * @param idleMillis after this time without tasks it sleeps until the next one comes, in place of looking
     * @return of how many streams tasks wait; 0: the queue is closed
     */
    int awaitStuck(long millis, long idleMillis) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long idleNs = TimeUnit.MILLISECONDS.toNanos(idleMillis);
            while (!closed) {
                long sinceNs = clock.nowNs() - movedNs;
                if (!waiting.isEmpty() && sinceNs >= TimeUnit.MILLISECONDS.toNanos(millis)) {
                    movedNs = clock.nowNs(); // those that come now take theirs first
                    return waiting.size();
                }
                watched = !waiting.isEmpty() || sinceNs < idleNs;
                if (watched) {
                    busy.await(millis, TimeUnit.MILLISECONDS);
                } else {
                    busy.await();
                }
            }
            return 0;
        } finally {
            lock.unlock();
        }
    }

    /** Closes the queue: no task is taken any more. */
    void close() {
        lock.lock();
        try {
            closed = true;
            arrived.signalAll();
            busy.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
