package io.tessera.executor.wait;

import io.tessera.clock.NanoClock;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A wait of one thread that polls until its time is over. A wait within another one ends with that one at the latest. An interrupted thread does not
 * sleep: it continues to poll until the time is over, and keeps its interrupt status. A wait that runs out is logged, for debugging. One
 * thread.
 */
public final class BoundedWait {
    private static final Logger LOG = LoggerFactory.getLogger(BoundedWait.class);

    private final NanoClock clock;
    private final WaitLimit limit;
    private final long untilNs;
    private boolean told;

    private BoundedWait(NanoClock clock, WaitLimit limit, long untilNs) {
        this.clock = clock;
        this.limit = limit;
        this.untilNs = untilNs;
    }

    /** Begins a wait. */
    public static BoundedWait begin(NanoClock clock, WaitLimit limit) {
        return begin(clock, limit, null);
    }

    /**
     * Begins a wait within another one.
     *
     * @param outer null: there is none
     */
    public static BoundedWait begin(NanoClock clock, WaitLimit limit, BoundedWait outer) {
        long untilNs = clock.nanoTime() + limit.mostNs();
        return new BoundedWait(clock, limit, outer != null && outer.untilNs - untilNs < 0 ? outer.untilNs : untilNs);
    }

    /** Sleeps for a time, but not longer than the limit. */
    public static void sleep(NanoClock clock, WaitLimit limit, long ns) {
        long untilNs = clock.nanoTime() + Math.min(limit.mostNs(), ns);
        for (long leftNs = untilNs - clock.nanoTime(); leftNs > 0; leftNs = untilNs - clock.nanoTime()) {
            LockSupport.parkNanos(Math.min(limit.pollNs(), leftNs));
        }
    }

    /** Sleeps for the poll interval of a limit, for a caller whose wait has another bound. */
    public static void moment(WaitLimit limit) {
        LockSupport.parkNanos(limit.pollNs());
    }

    /** Returns whether the time is over. */
    public boolean isOver() {
        boolean over = clock.nanoTime() - untilNs >= 0;
        if (over && !told) {
            told = true;
            LOG.debug("waited in vain: {}", limit);
        }
        return over;
    }

    /** Sleeps until the next poll is due. */
    public void pause() {
        moment(limit);
    }

    /**
     * Waits until a condition holds.
     *
     * @param done the condition, tested before each sleep
     * @return whether it holds; false: the time is over
     */
    public boolean until(BooleanSupplier done) {
        while (!done.getAsBoolean()) {
            if (isOver()) {
                return false;
            }
            pause();
        }
        return true;
    }
}
