package io.tessera.executor.worker;

import io.tessera.clock.NanoClock;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A number of places for work that tenants request and that the requesting threads do themselves. Waiting threads are served in the order of {@link FairTurns},
 * so no tenant has two places. A user without a place gets an additional one if others' long work occupies all places, and so does short work. Thread-safe.
 */
public final class TenantTurns {
    /** Places for users who have none, beside those that there are: each may take a worker's memory. */
    private static final int MOST_BESIDE = 4;
    /** The part of these that short work has at a time. */
    private static final int MOST_SHORT = 2;

    private final int places;
    private final long mostWaitNs;
    private final NanoClock clock;
    /** Under the lock of this, as what follows. */
    private final FairTurns<Turn> turns = new FairTurns<>();
    private int busy;
    /** Tenants whose short work has one of the places beside. */
    private final Set<String> shortBeside = new HashSet<>();

    /** The turn of one thread. */
    private static final class Turn {
        private final String tenant;
        private final boolean isShort;
        private boolean granted;

        private Turn(String tenant, boolean isShort) {
            this.tenant = tenant;
            this.isShort = isShort;
        }
    }

    /**
     * Creates an instance with all places free.
     *
     * @param mostWaitNs maximum wait for a turn
     * @param clock      monotonic
     */
    public TenantTurns(int places, long mostWaitNs, NanoClock clock) {
        this.places = places;
        this.mostWaitNs = mostWaitNs;
        this.clock = clock;
    }

    /**
     * Waits for a tenant's turn, which {@link #ended} ends.
     *
     * @param isShort whether it is over in a second or so: then it does not wait for others' long turns, even of the same user
     * @param givenUp whether the turn is no longer wanted; called again after {@link #wake}
     * @return false if the turn has not come
     */
    public synchronized boolean await(String tenant, boolean isShort, BooleanSupplier givenUp) {
        Turn turn = new Turn(tenant, isShort);
        turns.add(tenant, turn);
        grant();
        long untilNs = clock.nanoTime() + mostWaitNs;
        try {
            for (long leftNs = mostWaitNs; !turn.granted && !givenUp.getAsBoolean() && leftNs > 0; leftNs = untilNs - clock.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, leftNs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (!turn.granted) {
            turns.remove(tenant, turn);
        }
        return turn.granted;
    }

    private void grant() {
        while (busy < places + MOST_BESIDE) {
            boolean free = busy < places;
            Turn next = turns.next(turn -> free || turn.isShort && shortBeside.size() < MOST_SHORT);
            if (next == null) {
                return;
            }
            busy++;
            next.granted = true;
            if (!free && next.isShort) {
                shortBeside.add(next.tenant);
            }
            notifyAll();
        }
    }

    /** A tenant's turn has ended, after this long. */
    public synchronized void ended(String tenant, long tookNs) {
        busy--;
        shortBeside.remove(tenant);
        turns.ended(tenant, tookNs);
        grant();
    }

    /** A waiting thread may have given up. */
    public synchronized void wake() {
        notifyAll();
    }

    /** Places that are taken. */
    synchronized int busy() {
        return busy;
    }
}
