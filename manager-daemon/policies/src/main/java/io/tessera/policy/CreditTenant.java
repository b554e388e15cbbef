package io.tessera.policy;

/** A tenant with credit. */
final class CreditTenant extends PolicyTenant {
    /** The time that it may use before the others are preferred; a negative value is a debt. */
    long budgetNs;

    /** The time that it used in this period. */
    long usedNs;

    /** Its place in the list; the lowest is first. */
    long place;

    /** Time at which its last turn ended; {@link Long#MIN_VALUE}: it had none. */
    long endedNs = Long.MIN_VALUE;

    /** Mean of its recent gaps between a turn and the next request; -1: none yet. */
    long gapNs = -1;

    CreditTenant(long id, TenantTerms terms) {
        super(id, terms);
    }

    /** Adds a gap to the mean of about the last eight. */
    void noteGap(long ns) {
        gapNs = gapNs < 0 ? ns : gapNs + (ns - gapNs) / 8;
    }
}
