package io.tessera.samples;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Counts work for a number of seconds and prints each second's. Any thread may count. */
final class LoadClock {
    private final int seconds;
    private final long startNs = System.nanoTime();
    private final LongAdder count = new LongAdder();

    LoadClock(int seconds) {
        this.seconds = seconds;
    }

    /** Whether there is time left. */
    boolean running() {
        return System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(seconds);
    }

    /** Counts one piece of work. */
    void counted() {
        count.increment();
    }

    /** Prints {@code SECOND COUNT} after each second, until the time is over. */
    void print() throws InterruptedException {
        long before = 0;
        for (int second = 1; second <= seconds; second++) {
            long untilNs = startNs + TimeUnit.SECONDS.toNanos(second);
            TimeUnit.NANOSECONDS.sleep(Math.max(0, untilNs - System.nanoTime()));
            long now = count.sum();
            System.out.println(second + " " + (now - before));
            before = now;
        }
    }
}
