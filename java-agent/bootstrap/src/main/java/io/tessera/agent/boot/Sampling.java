package io.tessera.agent.boot;

import io.tessera.agent.clock.Ticks;

/**
 * Decides which events get a stack: each Nth, but no more than a fixed number a second, so that the cost stays bounded
 * whatever the application does. Any thread, without a lock: threads that race may take a stack more or one less.
 */
final class Sampling {
    private static final long SECOND = 1_000_000_000L;

    private final int mostPerSecond;
    private int every;
    private int left;
    private long windowBegan;
    private int taken;

    /** Of each {@code every} events one, at most {@code mostPerSecond} a second. */
    Sampling(int every, int mostPerSecond) {
        this.every = every;
        this.left = 1;
        this.mostPerSecond = mostPerSecond;
        this.windowBegan = Ticks.nanos();
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

    private boolean withinBound() {
        long now = Ticks.nanos();
        if (now - windowBegan >= SECOND) {
            windowBegan = now;
            taken = 0;
        }
        return taken++ < mostPerSecond;
    }
}
