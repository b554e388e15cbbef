package io.tessera.manager.schedule.mode;

import java.util.Collection;
import java.util.Locale;

/**
 * Shares of the time in which freely running clients keep the device busy: an upper bound of what turns can gain. Turns gain only what the hardware
 * loses by switching, some 10 % of the time in which two or more have work. Immutable.
 *
 * @param busiest share of the busiest client; 1 where a client's share is not known
 * @param others  sum of the shares of all others: two or more have work in at most this share of the time
 */
record BusyShares(double busiest, double others) {
    /** Shares of which nothing is known. */
    static final BusyShares UNKNOWN = new BusyShares(1, 1);

    /** Returns the shares of the active clients. */
    static BusyShares of(Collection<ClientRates> clients) {
        double busiest = 0;
        double sum = 0;
        for (ClientRates client : clients) {
            double share = client.busyShare();
            if (Double.isNaN(share)) {
                return UNKNOWN;
            }
            busiest = Math.max(busiest, share);
            sum += share;
        }
        return new BusyShares(busiest, sum - busiest);
    }

    /** Returns whether turns cannot gain, because the device has idle time, or all clients but one have little work. */
    boolean turnsCannotGain(double idleShare) {
        return busiest < idleShare || others < idleShare;
    }

    /** Returns why turns cannot gain. */
    String reason(double idleShare) {
        return busiest < idleShare
                ? String.format(Locale.ROOT, "running freely: the device has idle time, the busiest client keeps it busy %.0f %% of the time",
                        100 * busiest)
                : String.format(Locale.ROOT, "running freely: all clients but one keep the device busy for only %.0f %% of the time",
                        100 * others);
    }
}
