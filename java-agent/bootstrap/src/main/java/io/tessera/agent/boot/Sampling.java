package io.tessera.agent.boot;

import io.tessera.agent.clock.Ticks;

/**
 * Decides which events get a stack: each Nth, but no more than a fixed number a second, and none for a time after one
 * that cost much, so that the cost stays bounded whatever the application does. Any thread, without a lock: threads
 * that race may take a stack more or one less.
 */
final class Sampling {
    private static final long SECOND = 1_000_000_000L;
    /** A stack that seems to cost more was interrupted: by a collection, by another thread. */
    private static final long LONGEST_NANOS = 1_000_000L;

    private final int mostPerSecond;
    private final int pause;
    private int every;
    private int left;
    private long windowBegan;
    private int taken;
    private long resumes;

    /**
     * Takes one of each {@code every} events, at most {@code mostPerSecond} a second, and none after it for {@code pause} times its cost.
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

    /** Whether this event gets one. */
    boolean next() {
        int n = left - 1;
        if (n > 0) {
            left = n;
            return false;
        }
        left = every;
        return every > 0 && withinBound();
    }

    /** A stack was taken, and what belongs to it done. */
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
