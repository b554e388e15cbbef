package io.tessera.manager.residency;

import io.tessera.memory.residency.MoveRates;

/**
 * Measures how fast memory moves on a device, from what its clients count. One owner thread.
 *
 * <p>A client adds to its count of bytes with every chunk, and to its count of time only when a move has ended. So a rate is taken only while nothing
 * moves, and when enough has moved since the last one. The first measurement replaces the assumed rate; later ones are mixed in ({@link
 * MoveRates#measured}).
 */
final class MoveMeter {
    /** Moves of fewer bytes are not measured: fixed costs dominate their time. */
    private static final long SHORTEST_BYTES = 64L << 20;

    /** A move with less memory says little about changes of pages, */
    private static final long SHORTEST_CHANGE_BYTES = 1L << 30;
    /** and one of which more than this part was copied. */
    private static final int COPIED_PARTS = 16;

    private MoveRates rates = MoveRates.pinned();
    private boolean inKnown;
    private boolean outKnown;

    /** The counts of one client in one direction at the last measurement. */
    static final class Seen {
        private long bytes;
        private long other;
        private long ns;
        private long changeBytes;
        private long changeOther;
        private long changeNs;

        /** Returns nanoseconds for 1 GiB of the memory that has moved since the last answer, nearly all of it without a copy; 0: unknown. */
        private long changeNs(long bytesNow, long otherNow, long nsNow) {
            long moved = bytesNow - changeBytes;
            long all = moved + otherNow - changeOther;
            long spent = nsNow - changeNs;
            boolean sane = moved >= 0 && all >= moved && spent >= 0;
            if (sane && (spent == 0 || all < SHORTEST_CHANGE_BYTES)) {
                return 0;
            }
            changeBytes = bytesNow;
            changeOther = otherNow;
            changeNs = nsNow;
            return sane && moved <= all / COPIED_PARTS ? (long) ((double) spent * SHORTEST_CHANGE_BYTES / all) : 0;
        }

        /** Returns bytes per second since then; 0 if unknown, or if most of the memory moved without a copy, which says little about copies. */
        private double take(long bytesNow, long otherNow, long nsNow) {
            long moved = bytesNow - bytes;
            long notCopied = otherNow - other;
            long spent = nsNow - ns;
            boolean sane = moved >= 0 && spent >= 0;
            if (sane && (spent == 0 || moved < SHORTEST_BYTES)) {
                return 0;
            }
            bytes = bytesNow;
            other = otherNow;
            ns = nsNow;
            return sane && notCopied <= moved ? 1e9 * moved / spent : 0;
        }
    }

    MoveRates rates() {
        return rates;
    }

    /** Adds the total of bytes copied in so far, and of bytes that came in without a copy. */
    void in(Seen seen, long bytes, long otherBytes, long ns) {
        long changeNs = seen.changeNs(bytes, otherBytes, ns);
        double rate = seen.take(bytes, otherBytes, ns);
        if (changeNs > 0) {
            rates = rates.changed(SHORTEST_CHANGE_BYTES, changeNs);
        }
        if (rate > 0) {
            rates = inKnown ? rates.measured(SHORTEST_BYTES, (long) (1e9 * SHORTEST_BYTES / rate), 0, 0)
                    : new MoveRates(rate, rates.outBytesPerSecond(), rates.changedBytesPerSecond());
            inKnown = true;
        }
    }

    /** Adds the total of bytes copied out so far, and of bytes that left without a copy. */
    void out(Seen seen, long bytes, long otherBytes, long ns) {
        double rate = seen.take(bytes, otherBytes, ns);
        if (rate > 0) {
            rates = outKnown ? rates.measured(0, 0, SHORTEST_BYTES, (long) (1e9 * SHORTEST_BYTES / rate))
                    : new MoveRates(rates.inBytesPerSecond(), rate, rates.changedBytesPerSecond());
            outKnown = true;
        }
    }
}
