package io.tessera.policy;

/**
 * What a tenant owes after turns that lasted longer than they should: deficit round robin (Shreedhar and Varghese, 1995) with time in the place of
 * bytes. A turn ends when its queued work has drained, so it overruns. Without this account a tenant with long kernels would hold the device longer,
 * turn for turn, than one with short ones. Not thread-safe.
 */
final class TurnDebt {
    /** A tenant is never asked to make up for more than this many quanta: one endless kernel must not shut it out. */
    private static final long MAX_DEBT_QUANTA = 4;

    /** During a turn it includes the time used so far. */
    private long debtNs;
    private long grantedNs;

    /** Begins a turn of a quantum; returns its length, less by what is owed. */
    long grant(long quantumNs) {
        grantedNs = quantumNs;
        return Math.max(TenantPolicy.minimumNs(quantumNs), quantumNs - debtNs);
    }

    /** Books time. Time that nobody else wanted is never more than the turn itself. */
    void charge(long usedNs, boolean contended) {
        long sumNs = debtNs + usedNs;
        debtNs = contended ? sumNs : Math.min(sumNs, Math.max(debtNs, grantedNs));
    }

    /** Ends the turn. One that was given back early earns nothing: unused time is not saved up. */
    void ended() {
        debtNs = Math.clamp(debtNs - grantedNs, 0L, MAX_DEBT_QUANTA * grantedNs);
        grantedNs = 0;
    }

    /** Cuts the turn off: the used time is owed, so the next turn is the rest. */
    void interrupted() {
        debtNs = Math.clamp(debtNs, 0L, MAX_DEBT_QUANTA * grantedNs);
        grantedNs = 0;
    }

    /** What is owed. */
    long debtNs() {
        return debtNs;
    }
}
