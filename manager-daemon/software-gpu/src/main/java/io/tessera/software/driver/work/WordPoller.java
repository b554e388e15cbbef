package io.tessera.software.driver.work;

import io.tessera.software.clock.DeviceClock;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for words in memory that any process may write, so that there is no notification of a write. One thread polls all of them, often just after a change,
 * and less and less often without one. Thread-safe.
 */
public final class WordPoller implements AutoCloseable {
    /** A condition on memory, and what to do when it holds. */
    public interface Waiter {
        /** Looks once, and acts if the condition holds; true if it is over. */
        boolean poll();
    }

    private static final long EAGER_NS = 30_000;
    private static final long BRISK_NS = 2_000_000;
    private static final long BRISK_PAUSE_NS = 20_000;
    private static final long SLOW_PAUSE_NS = 200_000;
    private static final long IDLE_PAUSE_NS = 1_000_000_000L;

    private final DeviceClock clock;
    private final Thread thread;
    private final List<Waiter> arriving = new ArrayList<>();
    private volatile boolean closed;

    /** Starts the thread. */
    public WordPoller(DeviceClock clock) {
        this.clock = clock;
        thread = new Thread(this::watch, "software-gpu-words");
        thread.setDaemon(true);
        thread.start();
    }

    /** Waits for a condition; it is polled by the poller's thread only, from now on. */
    public void await(Waiter waiter) {
        synchronized (arriving) {
            arriving.add(waiter);
        }
        LockSupport.unpark(thread);
    }

    private void watch() {
        List<Waiter> waiting = new ArrayList<>();
        long moved = clock.nowNs();
        while (!closed) {
            boolean progress = arrive(waiting);
            for (Iterator<Waiter> each = waiting.iterator(); each.hasNext();) {
                if (each.next().poll()) {
                    each.remove();
                    progress = true;
                }
            }
            long now = clock.nowNs();
            moved = progress ? now : moved;
            pause(waiting.isEmpty(), now - moved);
        }
    }

    private boolean arrive(List<Waiter> waiting) {
        synchronized (arriving) {
            boolean any = waiting.addAll(arriving);
            arriving.clear();
            return any;
        }
    }

    private void pause(boolean idle, long quietNs) {
        if (idle) {
            LockSupport.parkNanos(this, IDLE_PAUSE_NS);
        } else if (quietNs < EAGER_NS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(this, quietNs < BRISK_NS ? BRISK_PAUSE_NS : SLOW_PAUSE_NS);
        }
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
