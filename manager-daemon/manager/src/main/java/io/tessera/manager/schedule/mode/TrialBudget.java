package io.tessera.manager.schedule.mode;

import io.tessera.manager.schedule.turn.AutoSettings;

/**
 * Decides when the other mode may be tried again: after the back-off, and after the work that such a trial is expected to cost has been earned. A
 * small share of all time is earned, so trials cost at most that share in the long run, however often the load changes. Not thread-safe.
 */
final class TrialBudget {
    /** Earned time is kept up to this many times the allowance: a quiet hour does not pay for a burst of trials. */
    private static final int CAP_ALLOWANCES = 2;

    private final AutoSettings settings;
    private double balanceNs;
    private long accruedUntilNs;
    private long intervalNs;
    private long dueNs;
    private long expectedLossNs;

    TrialBudget(AutoSettings settings, long nowNs) {
        this.settings = settings;
        this.balanceNs = settings.trialAllowanceNs();
        this.accruedUntilNs = nowNs;
        restart(nowNs);
    }

    /** Records a change: the next trial is due at once, if the budget allows, and the back-off starts again. */
    void restart(long nowNs) {
        intervalNs = settings.retrialNs();
        dueNs = nowNs;
        expectedLossNs = settings.trialAllowanceNs() / 2;
    }

    boolean allows(long nowNs) {
        accrue(nowNs);
        return nowNs >= dueNs && balanceNs >= Math.min(expectedLossNs, capNs());
    }

    /** Records a trial whose mode was not better: charges its cost and waits twice as long before the next. */
    void lost(long lossNs, long nowNs) {
        book(lossNs, nowNs);
        putOff(nowNs);
    }

    /** Records a trial whose mode was better. */
    void won(long nowNs) {
        restart(nowNs);
        putOff(nowNs);
    }

    /** Records a trial that was broken off: charges its cost; the next one is not delayed. */
    void brokenOff(long lossNs, long nowNs) {
        book(lossNs, nowNs);
    }

    /** Delays the next trial by the longest back-off, unless something changes before. */
    void putOffLongest(long nowNs) {
        intervalNs = settings.retrialMaxNs();
        dueNs = nowNs + intervalNs;
    }

    private void putOff(long nowNs) {
        dueNs = nowNs + intervalNs;
        intervalNs = Math.min(2 * intervalNs, settings.retrialMaxNs());
    }

    private void book(long lossNs, long nowNs) {
        accrue(nowNs);
        balanceNs -= lossNs;
        expectedLossNs = Math.max(lossNs, settings.trialAllowanceNs() / 10);
    }

    private void accrue(long nowNs) {
        balanceNs = Math.min(capNs(), balanceNs + settings.trialCostShare() * (nowNs - accruedUntilNs));
        accruedUntilNs = nowNs;
    }

    private double capNs() {
        return (double) CAP_ALLOWANCES * settings.trialAllowanceNs();
    }
}
