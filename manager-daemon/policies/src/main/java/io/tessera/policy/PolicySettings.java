package io.tessera.policy;

/**
 * The constants of the policies; each policy reads those that it needs. Immutable; times in nanoseconds.
 *
 * @param quantumNs     length of a turn of a tenant of average weight; 0: a turn is one request
 * @param periodNs      interval at which {@code credit}, {@code band} and {@code elastic} hand out new time
 * @param ageingNs      waiting time after which a tenant rises by one priority under {@code priority}
 * @param maxDelayNs    longest time for which {@code band} leaves the device unused for a tenant that has had too little
 * @param blockedGainNs part of a tenant's blocked time that {@code fair} compensates
 * @param slots         number of parts into which {@code elastic} divides a device
 * @param interactiveTargetNs time within which an interactive request is to be done, unless its tenant has another target
 * @param batchTargetNs the same for a batch request
 */
public record PolicySettings(long quantumNs, long periodNs, long ageingNs, long maxDelayNs, long blockedGainNs, int slots,
        long interactiveTargetNs, long batchTargetNs) {
    private static final long MS = 1_000_000L;

    /**
     * Constants for queues of submissions. Period and delay are GPUvm's (100 ms, 500 us), the gain of 10 ms is GLoop's, 200 ms is TReM's target. A
     * quantum of 10 ms makes a hundred turns in a second. With an ageing of 60 s a batch tenant waits for interactive ones for at most ten minutes.
     * Ten slots are as fine as a period of ten turns.
     */
    public static final PolicySettings SUBMISSIONS = new PolicySettings(10 * MS, 100 * MS, 60_000 * MS, MS / 2, 10 * MS, 10, 200 * MS, 2_000 * MS);

    /** Constants for turns of 250 ms on a whole device: the period is two turns, and a turn that a blocked tenant missed is compensated. */
    public static final PolicySettings TURNS = SUBMISSIONS.withQuantumNs(250 * MS).withPeriodNs(500 * MS).withBlockedGainNs(250 * MS);

    /** Checks every value. */
    public PolicySettings {
        if (quantumNs < 0 || maxDelayNs < 0 || blockedGainNs < 0) {
            throw new IllegalArgumentException("negative time: quantum " + quantumNs + " ns, delay " + maxDelayNs + " ns, gain " + blockedGainNs
                    + " ns");
        }
        if (periodNs <= 0 || ageingNs <= 0 || interactiveTargetNs <= 0 || batchTargetNs <= 0) {
            throw new IllegalArgumentException("period " + periodNs + " ns, ageing " + ageingNs + " ns, targets " + interactiveTargetNs + " and "
                    + batchTargetNs + " ns: must be positive");
        }
        if (slots < 1 || slots > 1_000) {
            throw new IllegalArgumentException(slots + " slots: must be from 1 to 1000");
        }
    }

    /** Returns a copy with another quantum. */
    public PolicySettings withQuantumNs(long ns) {
        return new PolicySettings(ns, periodNs, ageingNs, maxDelayNs, blockedGainNs, slots, interactiveTargetNs, batchTargetNs);
    }

    /** Returns a copy with another period. */
    public PolicySettings withPeriodNs(long ns) {
        return new PolicySettings(quantumNs, ns, ageingNs, maxDelayNs, blockedGainNs, slots, interactiveTargetNs, batchTargetNs);
    }

    /** Returns a copy with another time of ageing. */
    public PolicySettings withAgeingNs(long ns) {
        return new PolicySettings(quantumNs, periodNs, ns, maxDelayNs, blockedGainNs, slots, interactiveTargetNs, batchTargetNs);
    }

    /** Returns a copy with another compensation of blocked tenants. */
    public PolicySettings withBlockedGainNs(long ns) {
        return new PolicySettings(quantumNs, periodNs, ageingNs, maxDelayNs, ns, slots, interactiveTargetNs, batchTargetNs);
    }

    /** Returns a copy with another number of slots. */
    public PolicySettings withSlots(int number) {
        return new PolicySettings(quantumNs, periodNs, ageingNs, maxDelayNs, blockedGainNs, number, interactiveTargetNs, batchTargetNs);
    }

    /** Returns the time within which a tenant's request is to be done. */
    public long targetNs(TenantTerms terms) {
        if (terms.targetNs() > 0) {
            return terms.targetNs();
        }
        return terms.tenantClass() == TenantClass.INTERACTIVE ? interactiveTargetNs : batchTargetNs;
    }
}
