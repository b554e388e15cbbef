package io.tessera.memory.residency;

/**
 * Constants of {@link ResidencyPlanner}. Immutable.
 *
 * @param growthDivisor this part of the capacity is kept from prefetching while somebody runs, for what it allocates:
 *                      memory filled ahead of a turn would have to be copied out again for it
 * @param grainBytes    free memory is shared out among running clients in multiples of this, where there is enough
 */
public record PlannerSettings(long growthDivisor, long grainBytes) {
    /** Checks both. */
    public PlannerSettings {
        if (growthDivisor <= 0 || grainBytes <= 0) {
            throw new IllegalArgumentException("must be positive: growthDivisor " + growthDivisor
                    + ", grainBytes " + grainBytes);
        }
    }

    /** A sixty-fourth for growth; 64 MiB, as leases (QuotaLedger) are granted. */
    public static PlannerSettings defaults() {
        return new PlannerSettings(64, 64L << 20);
    }
}
