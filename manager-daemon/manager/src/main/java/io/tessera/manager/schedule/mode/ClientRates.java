package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.turn.ClientLoad;

/** What {@link AutoPolicy} knows about one client: its activity, and its rate of submissions in either mode. */
final class ClientRates {
    /** Number of recent samples that are compared with the reference: about a second of turns or of observations. */
    static final int RECENT = 5;

    final long id;

    /** Rate while running freely, in submissions per nanosecond of wall time. */
    final RateMeter free = new RateMeter();

    final TurnWork turns = new TurnWork();

    private ClientLoad load;
    private boolean waiting;
    private boolean everActive;
    private long lastActiveNs;
    private long sliceSubmissions;
    private long sliceSinceNs;
    private boolean slicing;
    private long busyBase;
    private long samplesBase;
    private double referenceRate;
    private int deviations;

    ClientRates(long id, ClientLoad load) {
        this.id = id;
        this.load = load;
    }

    void waiting(boolean waits, long nowNs) {
        if (waits != waiting) {
            waiting = waits;
            turns.waiting(waits, nowNs);
            active(nowNs);
        }
    }

    private void active(long nowNs) {
        everActive = true;
        lastActiveNs = nowNs;
    }

    void observe(ClientLoad now, long nowNs) {
        if (now.submissions() != load.submissions() || now.busySamples() != load.busySamples()) {
            active(nowNs);
        }
        load = now;
    }

    boolean activeWithin(long withinNs, long nowNs) {
        return waiting || (everActive && nowNs - lastActiveNs <= withinNs);
    }

    long usedBytes() {
        return load.usedBytes();
    }

    /** Forgets what was measured in free running; the next {@link #slice} starts again. */
    void restartFree() {
        free.clear();
        slicing = false;
        busyBase = load.busySamples();
        samplesBase = load.samples();
    }

    /** Ends a sample of free running at the last observation and begins the next one. */
    void slice(long nowNs) {
        if (slicing) {
            free.add(load.submissions() - sliceSubmissions, nowNs - sliceSinceNs);
        } else {
            busyBase = load.busySamples();
            samplesBase = load.samples();
        }
        slicing = true;
        sliceSubmissions = load.submissions();
        sliceSinceNs = nowNs;
    }

    /** Returns the share of samples that found the device busy with this client since {@link #restartFree}; NaN below ten samples. */
    double busyShare() {
        long samples = load.samples() - samplesBase;
        return samples < 10 ? Double.NaN : (double) (load.busySamples() - busyBase) / samples;
    }

    /** Makes the rate at the next check the reference for later ones. */
    void forgetReference() {
        referenceRate = 0;
        deviations = 0;
    }

    /**
     * Returns whether the recent rate differs from the reference by more than {@code share} in two checks in a row: a single one may fall into a
     * pause between two phases of the same work.
     */
    boolean deviates(RateMeter meter, double share) {
        if (meter.size() < RECENT) {
            return false;
        }
        double recent = meter.rateOfLast(RECENT);
        if (referenceRate == 0) {
            referenceRate = recent;
            return false;
        }
        double ratio = recent / referenceRate;
        boolean off = ratio > 1 + share || ratio < 1 / (1 + share);
        deviations = off ? deviations + 1 : 0;
        return deviations >= 2;
    }
}
