package io.tessera.agent.start;

import io.tessera.agent.clock.Ticks;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A lock for what is made while the JVM loads a class. A thread that loads one may hold any lock of class loaders, of {@code System.load}
 * and of the application, and the holder of this lock may come to need just that one. So nobody waits for it longer than a bound, and after
 * one wait in vain nobody waits at all while it is held: the class is then loaded as it was. Reentrant. Any thread.
 */
final class LoadingLock {
    /** Far longer than anything that is made under it takes; short for somebody who waits for a program. */
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

    /** What is made under the lock. */
    interface Making<T> {
        T make() throws IOException;
    }

    /**
     * Makes something while no other thread makes anything under this lock.
     *
     * @throws IOException of what is made, or because another thread has the lock for too long
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

    /** Waits; an interrupt of the application's thread is for the application, after the wait. */
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
