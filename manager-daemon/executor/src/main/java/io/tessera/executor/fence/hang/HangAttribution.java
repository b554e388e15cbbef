package io.tessera.executor.fence.hang;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/**
 * Finds the client whose endless work delays the others. A device that is full of one client's threads makes the work of all clients late, so lateness alone
 * proves nothing. Of the clients with late work, the one whose oldest work has been next in its stream for the longest time is ended. Then the clocks of all
 * others start again. Thread-safe.
 */
public final class HangAttribution {
    private static final long NONE = Long.MAX_VALUE;

    private final List<Turn> all = new CopyOnWriteArrayList<>();
    private final AtomicInteger round = new AtomicInteger();
    /** How often the executor has got a second tenant, and when that last happened, as of the last check for late work. */
    private int shared;
    private long changedNs;
    /** Number of clients whose work was ordered to end and has ended; and the same as of the last check for late work. */
    private final AtomicInteger haltedEnded = new AtomicInteger();
    private int seenEnded;

    /** The turn of one client. Fields that are not volatile belong to its owner thread. */
    public final class Turn {
        /** Since when its oldest unfinished work has been the next to be done; {@link #NONE}: it has none that counts. */
        private volatile long sinceNs = NONE;
        /** The place behind that work ({@link ProgressCounters}). */
        private volatile long place;
        /**
         * Since when its thread has been about to record a place behind work; a call that waits for that work may block it. {@link
         * #NONE}: it is not.
         */
        private volatile long markingNs = NONE;
        /** The last place in each stream, by its word. Work that its thread has submitted since it last looked is before one of them. */
        private final Map<Integer, Long> last = new ConcurrentHashMap<>();
        /** When another thread saw that {@link #place} was passed while work before a later place was not done; and that place. */
        private long passedNs;
        private long passed = ProgressCounters.UNKNOWN;
        /** Bound on the time of work, in nanoseconds; 0: none. Called by any thread. */
        private volatile LongSupplier limit = () -> 0;
        /** Orders its kernels to end, without a driver call; any thread may run it. */
        private volatile Runnable halt = () -> {};
        /** When another thread ordered its kernels to end, because its own thread was blocked; 0: no order was given. */
        private volatile long haltedNs;
        /** When another tenant's work that had been next for longer than this client's last ended: until then this client's work may have waited behind it. */
        private volatile long behindNs = Long.MIN_VALUE / 2;
        private final String tenant;
        private int seen = round.get();

        private Turn(String tenant) {
            this.tenant = tenant;
        }

        /** Sets the bound on the time of its work, in nanoseconds; 0: none. Called by any thread. */
        void limit(LongSupplier nanoseconds) {
            limit = nanoseconds;
        }

        /** Sets the action that orders its kernels to end, without a driver call; any thread may run it. */
        public void onHalt(Runnable action) {
            halt = action;
        }

        /**
         * Orders its kernels to end; any thread.
         *
         * @return false: they had the order already
         */
        synchronized boolean haltNow(long nowNs) {
            boolean first = haltedNs == 0;
            if (first) {
                haltedNs = nowNs;
                halt.run();
            }
            return first;
        }

        /** Returns whether its kernels were ordered to end while its thread was blocked. */
        boolean isHalted() {
            return haltedNs != 0;
        }

        /** Returns whether work of another client was ended since the last call, so that earlier measurements are invalid. */
        boolean isNewRound() {
            int now = round.get();
            boolean is = now != seen;
            seen = now;
            return is;
        }

        /** Records that the client has submitted work and is about to record a place behind it. */
        void marking(long nowNs) {
            markingNs = nowNs;
        }

        /** Records that the place was recorded. */
        void marked() {
            markingNs = NONE;
        }

        /** Records submitted work and a place behind it; if the client had none, this work is next from now on. */
        void begun(long nowNs, long behind) {
            if (sinceNs == NONE) {
                place = behind;
                sinceNs = nowNs;
            }
        }

        /**
         * Records since when the client's oldest unfinished work has been next (CLOCK_MONOTONIC).
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

        /** Records that the client has no work that counts: none, or work that may wait for the program itself. */
        void nothing(long nowNs) {
            long before = sinceNs;
            sinceNs = NONE;
            if (before != NONE) {
                over(before, nowNs);
            }
        }

        /** Records that other tenants' work that has been next for less long may have waited behind this client's work until now. */
        private void over(long beforeNs, long nowNs) {
            for (Turn other : all) {
                if ((isLater(other.sinceNs, beforeNs) || isLater(other.markingNs, beforeNs)) && !other.tenant.equals(tenant)) {
                    other.behindNs = nowNs;
                }
            }
        }

        private static boolean isLater(long ns, long beforeNs) {
            return ns > beforeNs && ns != NONE;
        }

        /** Returns until when its work may have waited behind older work of others. */
        long behindNs() {
            return behindNs;
        }

        /** Returns whether no other client's work has been next for longer. */
        boolean isFirst() {
            long own = sinceNs;
            return all.stream().allMatch(other -> own <= other.sinceNs);
        }

        /** Records that the work has ended: if any of it counted, all other clients may have waited for it until now. */
        synchronized void ended() {
            if (sinceNs == NONE && haltedNs == 0) {
                return;
            }
            if (haltedNs != 0) {
                haltedEnded.incrementAndGet();
            }
            sinceNs = NONE;
            haltedNs = 0;
            seen = round.incrementAndGet();
        }

        /** Records a place behind all work of a stream that does not wait for a program. */
        void last(int word, long behind) {
            if (behind != ProgressCounters.UNKNOWN) {
                last.put(word, behind);
            }
        }

        /** Drops the last place of a stream that has ended or may wait for the program, because it proves nothing. */
        void forget(int word) {
            last.remove(word);
        }

        /**
         * Returns since when its oldest unfinished work has been next, as far as other threads can tell; {@link #NONE}: all work with a place behind it is
         * done.
         */
        private synchronized long oldestNs(LongPredicate unfinished, long nowNs) {
            if (sinceNs == NONE || unfinished.test(place)) {
                return sinceNs;
            }
            if (last.values().stream().noneMatch(unfinished::test)) {
                return NONE;
            }
            if (passed != place) {
                passed = place;
                passedNs = nowNs;
            }
            return passedNs;
        }

        /** Removes the client, which has left with all its work. */
        void leave() {
            all.remove(this);
            ended();
        }
    }

    /**
     * Ends the kernels of the client whose work has been next for the longest time, if that exceeds the client's bound. This is for clients whose own threads
     * cannot do so, because they are blocked in a call that waits for those kernels. One thread at a time.
     *
     * @param timesShared how often the executor has got a second tenant: then the time of a tenant that was alone before starts again
     * @param unfinished whether the work before a place is not done
     * @param graceNs    time that kernels have between the order to end and their end
     * @return whether work that was ordered to end has not ended in time
     */
    boolean haltLate(long nowNs, int timesShared, long graceNs, LongPredicate unfinished) {
        int ended = haltedEnded.get();
        if (timesShared != shared || ended != seenEnded) {
            shared = timesShared;
            seenEnded = ended;
            changedNs = nowNs; // work that was not bounded before, or that waited for the ended work, may already have taken long
        }
        Turn late = oldest(turn -> turn.oldestNs(unfinished, nowNs));
        long sinceNs = late == null ? NONE : late.oldestNs(unfinished, nowNs);
        if (late == null) {
            late = oldest(turn -> turn.markingNs);
            sinceNs = late == null ? NONE : late.markingNs;
        }
        long limitNs = late == null ? 0 : late.limit.getAsLong();
        if (limitNs == 0 || nowNs - Math.max(late.behindNs, Math.max(sinceNs, changedNs)) <= limitNs) {
            return false;
        }
        late.haltNow(nowNs);
        return nowNs - late.haltedNs > graceNs;
    }

    private Turn oldest(ToLongFunction<Turn> sinceNs) {
        Turn oldest = null;
        long oldestNs = NONE;
        for (Turn turn : all) {
            long ns = sinceNs.applyAsLong(turn);
            if (ns < oldestNs) {
                oldest = turn;
                oldestNs = ns;
            }
        }
        return oldest;
    }

    /** Adds a client. */
    Turn enter(String tenant) {
        Turn turn = new Turn(tenant);
        all.add(turn);
        return turn;
    }
}
