package io.tessera.memory.residency;

/**
 * Constants of {@link ResidencyPlanner}. Immutable.
 *
 * @param growthDivisor part of the capacity, as a divisor, that prefetching leaves free for the allocations of running clients: memory that is filled
 *   ahead of a turn would have to be copied out again for them
 * @param grainBytes    free memory is divided among running clients in multiples of this, if there is enough
 */
public record PlannerSettings(long growthDivisor, long grainBytes) {
    /** Checks both values. */
    public PlannerSettings {
        if (growthDivisor <= 0 || grainBytes <= 0) {
            throw new IllegalArgumentException("must be positive: growthDivisor " + growthDivisor
                    + ", grainBytes " + grainBytes);
        }
    }

    /** Returns the defaults: a sixty-fourth for growth; 64 MiB, the unit in which leases (QuotaLedger) are granted. */
    public static PlannerSettings defaults() {
        return new PlannerSettings(64, 64L << 20);
    }
}
