package io.tessera.policy;

/** A tenant with credit. */
final class CreditTenant extends PolicyTenant {
    /** The time that it may use before the others are preferred; below 0 it owes. */
    long budgetNs;

    /** Used in this period. */
    long usedNs;

    /** Its place in the list: the least is looked at first. */
    long place;

    /** When its last turn ended; {@link Long#MIN_VALUE}: it had none. */
    long endedNs = Long.MIN_VALUE;

    /** Mean of its recent gaps between a turn and the next request; -1: none yet. */
    long gapNs = -1;

    CreditTenant(long id, TenantTerms terms) {
        super(id, terms);
    }

    /** Takes a gap into the mean of about the last eight. */
    void noteGap(long ns) {
        gapNs = gapNs < 0 ? ns : gapNs + (ns - gapNs) / 8;
    }
}
