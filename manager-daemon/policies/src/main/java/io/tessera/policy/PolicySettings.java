package io.tessera.policy;

/**
 * The constants of the policies; each policy reads those that it needs. Immutable; times in nanoseconds.
 *
 * @param quantumNs     length of a turn of a tenant of average weight; 0: a turn is one request
 * @param periodNs      after this time {@code credit}, {@code band} and {@code elastic} hand out new time
 * @param ageingNs      under {@code priority} a tenant rises by one priority each time that it has waited this long
 * @param maxDelayNs    the longest that {@code band} leaves the device unused for a tenant that has had too little
 * @param blockedGainNs under {@code fair}, how much of the time that a tenant only waited is made up for
 * @param slots         into how many parts {@code elastic} divides a device
 * @param interactiveTargetNs within which time an interactive request is to be done, unless its tenant says otherwise
 * @param batchTargetNs the same for a batch request
 */
public record PolicySettings(long quantumNs, long periodNs, long ageingNs, long maxDelayNs, long blockedGainNs, int slots,
        long interactiveTargetNs, long batchTargetNs) {
    private static final long MS = 1_000_000L;

    /**
     * For queues of submissions. Period and delay are GPUvm's (100 ms, 500 us), the gain of 10 ms is GLoop's, 200 ms is TReM's target. A quantum
     * of 10 ms makes a hundred turns in a second. With an ageing of 60 s a batch tenant
     * waits for interactive ones for ten minutes at most. Ten slots are as fine
     * as a period of ten turns.
     */
    public static final PolicySettings SUBMISSIONS = new PolicySettings(10 * MS, 100 * MS, 60_000 * MS, MS / 2, 10 * MS, 10, 200 * MS, 2_000 * MS);

    /** For turns on a whole device, of 250 ms: the period is two turns, and a turn that was missed while its tenant only waited is made up for. */
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

    /** The same with another quantum. */
    public PolicySettings withQuantumNs(long ns) {
        return new PolicySettings(ns, periodNs, ageingNs, maxDelayNs, blockedGainNs, slots, interactiveTargetNs, batchTargetNs);
    }

    /** The same with another period. */
    public PolicySettings withPeriodNs(long ns) {
        return new PolicySettings(quantumNs, ns, ageingNs, maxDelayNs, blockedGainNs, slots, interactiveTargetNs, batchTargetNs);
    }

    /** The same with another time of ageing. */
    public PolicySettings withAgeingNs(long ns) {
        return new PolicySettings(quantumNs, periodNs, ns, maxDelayNs, blockedGainNs, slots, interactiveTargetNs, batchTargetNs);
    }

    /** The same with another gain of tenants that only waited. */
    public PolicySettings withBlockedGainNs(long ns) {
        return new PolicySettings(quantumNs, periodNs, ageingNs, maxDelayNs, ns, slots, interactiveTargetNs, batchTargetNs);
    }

    /** The same with another number of slots. */
    public PolicySettings withSlots(int number) {
        return new PolicySettings(quantumNs, periodNs, ageingNs, maxDelayNs, blockedGainNs, number, interactiveTargetNs, batchTargetNs);
    }

    /** Within which time a tenant's request is to be done. */
    public long targetNs(TenantTerms terms) {
        if (terms.targetNs() > 0) {
            return terms.targetNs();
        }
        return terms.tenantClass() == TenantClass.INTERACTIVE ? interactiveTargetNs : batchTargetNs;
    }
}
