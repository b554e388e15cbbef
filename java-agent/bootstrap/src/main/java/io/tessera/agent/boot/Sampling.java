package io.tessera.agent.boot;

import io.tessera.agent.clock.Ticks;

/**
 * Decides which events get a stack: every Nth event, at most a fixed number a second, and none for a time after an expensive one. So the
 * cost is bounded whatever the application does. Any thread, without a lock: racing threads may take one stack too many or too few.
 */
final class Sampling {
    private static final long SECOND = 1_000_000_000L;
    /** Upper bound on the cost of a stack: a longer time includes an interruption, by a collection or another thread. */
    private static final long LONGEST_NANOS = 1_000_000L;

    private final int mostPerSecond;
    private final int pause;
    private int every;
    private int left;
    private long windowBegan;
    private int taken;
    private long resumes;

    /**
     * Samples one of every {@code every} events, at most {@code mostPerSecond} a second, and none for {@code pause} times the cost of the
     * last one.
     */
    Sampling(int every, int mostPerSecond, int pause) {
        this.every = every;
        this.left = 1;
        this.mostPerSecond = mostPerSecond;
        this.pause = pause;
        this.windowBegan = Ticks.nanos();
        this.resumes = windowBegan;
    }

    void every(int n) {
        every = n;
        left = 1;
    }

    int every() {
        return every;
    }

    /** Returns whether this event gets a stack. */
    boolean next() {
        int n = left - 1;
        if (n > 0) {
            left = n;
            return false;
        }
        left = every;
        return every > 0 && withinBound();
    }

    /** Records that a stack was taken and its processing is complete. */
    void took(long beganNanos) {
        long now = Ticks.nanos();
        resumes = now + pause * Math.min(now - beganNanos, LONGEST_NANOS);
    }

    private boolean withinBound() {
        long now = Ticks.nanos();
        if (now - resumes < 0) {
            return false;
        }
        if (now - windowBegan >= SECOND) {
            windowBegan = now;
            taken = 0;
        }
        return taken++ < mostPerSecond;
    }
}
