package io.tessera.manager.schedule.turn;

import io.tessera.manager.schedule.SchedulerMode;

/**
 * The constants of {@link SchedulerMode#AUTO}; SCHEDULING.md gives the source of each. Immutable.
 *
 * @param activeWithinNs   a client is active while it submitted something within this time
 * @param observeNs        interval at which loads are read while two or more clients are joined and nothing is measured
 * @param settleNs         free running is not measured for this long after it began: the clients' queues fill first
 * @param sliceNs          length of one sample of free running while it is measured
 * @param trialQuantumNs   longest turn during a trial of turns, so that trials remain cheap with a long quantum
 * @param marginShare      gain that the other mode must show before the mode changes (0.02: 2 %)
 * @param idleBusyShare    below this share of busy samples of every client, or of all but one together, turns cannot win and are not tried
 * @param rateChangeShare  change of a client's rate that makes the last measurement invalid (0.3: 30 %)
 * @param retrialNs        time to the first repetition of a measurement; doubles up to {@code retrialMaxNs}
 * @param retrialMaxNs     longest time between repetitions
 * @param trialCostShare   work that trials of the worse mode may cost in the long run (0.005: 0.5 %)
 * @param trialAllowanceNs lost time that trials may cost at once before any has been earned
 * @param moveBytesPerSecond rate at which memory comes back after a hand-over while memory is oversubscribed
 * @param moveShare        share of the time that such moves may take; stretches the quantum; 1: never stretched
 * @param stretchedQuantumMaxNs longest quantum that oversubscription may lead to
 */
public record AutoSettings(long activeWithinNs, long observeNs, long settleNs, long sliceNs, long trialQuantumNs,
        double marginShare, double idleBusyShare, double rateChangeShare, long retrialNs, long retrialMaxNs,
        double trialCostShare, long trialAllowanceNs, long moveBytesPerSecond, double moveShare,
        long stretchedQuantumMaxNs) {

    private static final long MS = 1_000_000L;
    private static final long SECOND = 1_000_000_000L;

    /** A stretched quantum grows in steps, so that not every allocation changes the terms of all clients. */
    private static final long STRETCH_STEP_NS = 100 * MS;

    /** Checks every value. */
    public AutoSettings {
        positive("activeWithinNs", activeWithinNs);
        positive("observeNs", observeNs);
        positive("settleNs", settleNs);
        positive("sliceNs", sliceNs);
        positive("trialQuantumNs", trialQuantumNs);
        share("marginShare", marginShare);
        share("idleBusyShare", idleBusyShare);
        share("rateChangeShare", rateChangeShare);
        positive("retrialNs", retrialNs);
        positive("retrialMaxNs", retrialMaxNs);
        share("trialCostShare", trialCostShare);
        positive("trialAllowanceNs", trialAllowanceNs);
        positive("moveBytesPerSecond", moveBytesPerSecond);
        share("moveShare", moveShare);
        positive("stretchedQuantumMaxNs", stretchedQuantumMaxNs);
        if (retrialMaxNs < retrialNs) {
            throw new IllegalArgumentException("retrialMaxNs " + retrialMaxNs + " is below retrialNs " + retrialNs);
        }
        if (activeWithinNs < observeNs) {
            throw new IllegalArgumentException(
                    "activeWithinNs " + activeWithinNs + " is below observeNs " + observeNs);
        }
    }

    /** Returns the constants in use until an operator sets others. */
    public static AutoSettings defaults() {
        return new AutoSettings(SECOND, 250 * MS, 300 * MS, 100 * MS, 100 * MS, 0.02, 0.5, 0.3, 10 * SECOND,
                60 * SECOND, 0.005, 150 * MS, 10_000_000_000L, 0.2, 30 * SECOND);
    }

    /** Returns a quantum so long that bringing back what does not fit takes at most the allowed share of the time. */
    public long stretchedQuantumNs(long excessBytes) {
        double moveNs = 1e9 * Math.max(0, excessBytes) / moveBytesPerSecond;
        double quantumNs = moveNs * (1 - moveShare) / moveShare;
        long wholeNs = (long) Math.ceil(quantumNs / STRETCH_STEP_NS) * STRETCH_STEP_NS;
        return Math.min(wholeNs, stretchedQuantumMaxNs);
    }

    /** Returns a copy with other times between repeated measurements. */
    public AutoSettings withRetrialNs(long firstNs, long longestNs) {
        return new AutoSettings(activeWithinNs, observeNs, settleNs, sliceNs, trialQuantumNs, marginShare,
                idleBusyShare, rateChangeShare, firstNs, longestNs, trialCostShare, trialAllowanceNs,
                moveBytesPerSecond, moveShare, stretchedQuantumMaxNs);
    }

    /** Returns a copy with another bound on the cost of trials. */
    public AutoSettings withTrialCost(double costShare, long allowanceNs) {
        return new AutoSettings(activeWithinNs, observeNs, settleNs, sliceNs, trialQuantumNs, marginShare,
                idleBusyShare, rateChangeShare, retrialNs, retrialMaxNs, costShare, allowanceNs,
                moveBytesPerSecond, moveShare, stretchedQuantumMaxNs);
    }

    /** Returns a copy with another margin. */
    public AutoSettings withMarginShare(double share) {
        return new AutoSettings(activeWithinNs, observeNs, settleNs, sliceNs, trialQuantumNs, share,
                idleBusyShare, rateChangeShare, retrialNs, retrialMaxNs, trialCostShare, trialAllowanceNs,
                moveBytesPerSecond, moveShare, stretchedQuantumMaxNs);
    }

    private static void positive(String name, long value) {
        if (value <= 0) {
            throw new IllegalArgumentException(name + " must be positive, is " + value);
        }
    }

    private static void share(String name, double value) {
        if (!(value > 0 && value <= 1)) {
            throw new IllegalArgumentException(name + " must lie in (0, 1], is " + value);
        }
    }
}
