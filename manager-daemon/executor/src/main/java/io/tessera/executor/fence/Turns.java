package io.tessera.executor.fence;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Whose endless work keeps the others waiting. A device that is full of one client's threads makes everybody's work late, so
 * lateness alone proves nothing: of clients whose work is late the one goes whose work has been next to be done for
 * longest, and when it has gone the clocks of all others begin anew. Thread-safe.
 */
final class Turns {
    private static final long NONE = Long.MAX_VALUE;

    private final List<Turn> all = new CopyOnWriteArrayList<>();
    private final AtomicInteger round = new AtomicInteger();

    /** One client's. Everything but {@link #sinceNs} is its owner thread's. */
    final class Turn {
        /** Since when its oldest unfinished work has been the next to be done; {@link #NONE}: it has none that counts. */
        private volatile long sinceNs = NONE;
        private int seen = round.get();

        private Turn() {
        }

        /** Whether somebody else's work was ended since the last call, so that what was measured means nothing. */
        boolean isNewRound() {
            int now = round.get();
            boolean is = now != seen;
            seen = now;
            return is;
        }

        /** Its oldest unfinished work has been next since a time (CLOCK_MONOTONIC). */
        void since(long ns) {
            sinceNs = ns;
        }

        /** It has no work that counts: none, or work that may wait for the program itself. */
        void nothing() {
            sinceNs = NONE;
        }

        /** Whether nobody's work has been next for longer. */
        boolean isFirst() {
            long own = sinceNs;
            return all.stream().allMatch(other -> own <= other.sinceNs);
        }

        /** Its work has ended: if it had any that counts, everybody else has waited for it until now. */
        void ended() {
            if (sinceNs == NONE) {
                return;
            }
            sinceNs = NONE;
            seen = round.incrementAndGet();
        }

        /** The client is gone, with all its work. */
        void leave() {
            all.remove(this);
            ended();
        }
    }

    /** A client comes in. */
    Turn enter() {
        Turn turn = new Turn();
        all.add(turn);
        return turn;
    }
}
