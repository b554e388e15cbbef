package io.tessera.executor.fence;

import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * Whose endless work keeps the others waiting. A device that is full of one client's threads makes everybody's work late, so
 * lateness alone proves nothing: of clients whose work is late the one goes whose work has been next to be done for
 * longest, and when it has gone the clocks of all others begin anew. Thread-safe.
 */
final class Turns {
    private static final long NONE = Long.MAX_VALUE;

    private final List<Turn> all = new CopyOnWriteArrayList<>();
    private final AtomicInteger round = new AtomicInteger();
    /** How often a tenant had come to be beside others, and when that was last so, as of the last look for late work. */
    private int shared;
    private long changedNs;

    /** One client's. Everything is its owner thread's that is not volatile. */
    final class Turn {
        /** Since when its oldest unfinished work has been the next to be done; {@link #NONE}: it has none that counts. */
        private volatile long sinceNs = NONE;
        /** The place behind that work ({@link DoneWords}). */
        private volatile long place;
        /** How long work may take, in nanoseconds; 0: as long as it likes. Any thread asks. */
        private volatile LongSupplier limit = () -> 0;
        /** Tells its kernels to end, without the driver; by any thread. */
        private volatile Runnable halt = () -> {
        };
        /** When somebody else told its kernels to end, because its thread was held up; 0: nobody did. */
        private volatile long haltedNs;
        /** When work of another tenant ended that had been next for longer than its own: that may have waited behind it until then. */
        private volatile long behindNs = Long.MIN_VALUE / 2;
        private final String tenant;
        private int seen = round.get();

        private Turn(String tenant) {
            this.tenant = tenant;
        }

        /** How long its work may take, in nanoseconds, for any thread that asks; 0: as long as it likes. */
        void limit(LongSupplier nanoseconds) {
            limit = nanoseconds;
        }

        /** What tells its kernels to end, without a call of the driver; any thread may run it. */
        void onHalt(Runnable action) {
            halt = action;
        }

        /** Whether its kernels were told to end while its thread was held up. */
        boolean isHalted() {
            return haltedNs != 0;
        }

        /** Whether somebody else's work was ended since the last call, so that what was measured means nothing. */
        boolean isNewRound() {
            int now = round.get();
            boolean is = now != seen;
            seen = now;
            return is;
        }

        /** It has submitted work; if it had none, this is what is next from now on. */
        void begun(long nowNs, long behind) {
            if (sinceNs == NONE) {
                place = behind;
                sinceNs = nowNs;
            }
        }

        /**
         * Its oldest unfinished work has been next since a time (CLOCK_MONOTONIC).
         *
         * @param behind the place behind that work
         * @param nowNs  the time now
         */
        void since(long ns, long behind, long nowNs) {
            boolean moved = sinceNs < ns;
            long before = sinceNs;
            place = behind;
            sinceNs = ns;
            if (moved) {
                over(before, nowNs);
            }
        }

        /** It has no work that counts: none, or work that may wait for the program itself. */
        void nothing(long nowNs) {
            long before = sinceNs;
            sinceNs = NONE;
            if (before != NONE) {
                over(before, nowNs);
            }
        }

        /** Other tenants' work that has been next for less long may have waited behind its work until now. */
        private void over(long beforeNs, long nowNs) {
            for (Turn other : all) {
                if (other.sinceNs > beforeNs && other.sinceNs != NONE && !other.tenant.equals(tenant)) {
                    other.behindNs = nowNs;
                }
            }
        }

        /** Until when its work may have waited behind older work of others. */
        long behindNs() {
            return behindNs;
        }

        /** Whether nobody's work has been next for longer. */
        boolean isFirst() {
            long own = sinceNs;
            return all.stream().allMatch(other -> own <= other.sinceNs);
        }

        /** Its work has ended: if it had any that counts, everybody else has waited for it until now. */
        synchronized void ended() {
            if (sinceNs == NONE && haltedNs == 0) {
                return;
            }
            sinceNs = NONE;
            haltedNs = 0;
            seen = round.incrementAndGet();
        }

        /** Whether it has work that counts and is not done. */
        private synchronized boolean isUnfinished(LongPredicate unfinished) {
            return sinceNs != NONE && unfinished.test(place);
        }

        /** The client is gone, with all its work. */
        void leave() {
            all.remove(this);
            ended();
        }
    }

    /**
     * Ends the kernels of the client whose work has been next for longest, if that is longer than they may take: for clients
     * whose own threads cannot, because a call holds them up that waits for those kernels. Any one thread.
     *
     * @param timesShared how often there have come to be several tenants: who was alone before has his time from then on
     * @param unfinished whether the work before a place is not done
     * @param graceNs    from being told to end to the end
     * @return whether work that was told to end has not done so in time
     */
    boolean haltLate(long nowNs, int timesShared, long graceNs, LongPredicate unfinished) {
        if (timesShared != shared) {
            shared = timesShared;
            changedNs = nowNs; // work that nobody waited for may have taken long by now
        }
        Turn late = all.stream().filter(turn -> turn.isUnfinished(unfinished))
                .min(Comparator.comparingLong(turn -> turn.sinceNs)).orElse(null);
        long limitNs = late == null ? 0 : late.limit.getAsLong();
        if (limitNs == 0 || nowNs - Math.max(late.behindNs, Math.max(late.sinceNs, changedNs)) <= limitNs) {
            return false;
        }
        if (late.haltedNs == 0) {
            late.haltedNs = nowNs;
            late.halt.run();
        }
        return nowNs - late.haltedNs > graceNs;
    }

    /** A client comes in. */
    Turn enter(String tenant) {
        Turn turn = new Turn(tenant);
        all.add(turn);
        return turn;
    }
}
