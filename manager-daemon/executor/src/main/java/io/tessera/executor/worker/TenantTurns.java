package io.tessera.executor.worker;

import io.tessera.clock.NanoClock;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A fixed number of places for work that tenants request and that the requesting threads do themselves. Waiting threads are served in the order of {@link
 * FairTurns}, so no tenant has two places. If others' long work occupies all places, a user without a place gets an additional one, and so does short work.
 * Thread-safe.
 */
public final class TenantTurns {
    /** Maximum number of additional places for users without a place. It is small because each may take a worker's memory. */
    private static final int MOST_BESIDE = 4;
    /** How many of these short work may have at a time. */
    private static final int MOST_SHORT = 2;

    private final int places;
    private final long mostWaitNs;
    private final NanoClock clock;
    /** Under the lock of this, as what follows. */
    private final FairTurns<Turn> turns = new FairTurns<>();
    private int busy;
    /** Tenants whose short work has one of the additional places. */
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
     * @param isShort whether it takes about a second at most: then it does not wait for others' long turns, even of the same user
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

    /** Records that a tenant's turn has ended, after this time. */
    public synchronized void ended(String tenant, long tookNs) {
        busy--;
        shortBeside.remove(tenant);
        turns.ended(tenant, tookNs);
        grant();
    }

    /** Wakes the waiting threads, since one may no longer want its turn. */
    public synchronized void wake() {
        notifyAll();
    }

    /** Places that are taken. */
    synchronized int busy() {
        return busy;
    }
}
