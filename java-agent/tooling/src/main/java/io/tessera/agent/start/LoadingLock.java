package io.tessera.agent.start;

import io.tessera.agent.clock.Ticks;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for work that is done while the JVM loads a class. A thread that loads a class may hold any lock of class loaders, of {@code
 * System.load} and of the application, and the holder of this lock may need that same lock. So every wait for this lock has a bound. After
 * one wait has timed out, no thread waits while the lock is held; the class is then loaded unchanged. Reentrant. Any thread.
 */
final class LoadingLock {
    /** Bound of a wait: far longer than any work under the lock, and short for a user who waits for a program. */
    private static final long MOST_MS = 5_000;

    private final ReentrantLock lock = new ReentrantLock();
    private final long mostMs;
    private volatile boolean inVain;

    LoadingLock() {
        this(MOST_MS);
    }

    LoadingLock(long mostMs) {
        this.mostMs = mostMs;
    }

    /** Work that is done under the lock. */
    interface Making<T> {
        T make() throws IOException;
    }

    /**
     * Does work while no other thread does any under this lock.
     *
     * @throws IOException from the work, or because another thread holds the lock for too long
     */
    <T> T hold(Making<T> making) throws IOException {
        if (!lock.tryLock() && !isHadInTime()) {
            inVain = true;
            throw new IOException("another thread has been making the recorder for " + mostMs + " ms");
        }
        inVain = false;
        try {
            return making.make();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits for the lock and returns whether it was acquired in time. An interrupt of the application's thread is restored after the wait.
     */
    private boolean isHadInTime() {
        long endNs = Ticks.nanos() + TimeUnit.MILLISECONDS.toNanos(inVain ? 0 : mostMs);
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return lock.tryLock(endNs - Ticks.nanos(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException later) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
