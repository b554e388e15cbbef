package io.tessera.policy;

/**
 * A tenant's debt after turns that lasted too long: deficit round robin (Shreedhar and Varghese, 1995) with time in place of bytes. A turn ends when
 * its queued work has drained, so it overruns. Without debts a tenant with long kernels would hold the device longer in each turn than one with short
 * kernels. Not thread-safe.
 */
final class TurnDebt {
    /** Maximum debt in quanta: one endless kernel must not shut a tenant out. */
    private static final long MAX_DEBT_QUANTA = 4;

    /** The debt; during a turn it includes the time used so far. */
    private long debtNs;
    private long grantedNs;

    /** Begins a turn of a quantum; returns its length, less the debt. */
    long grant(long quantumNs) {
        grantedNs = quantumNs;
        return Math.max(TenantPolicy.minimumNs(quantumNs), quantumNs - debtNs);
    }

    /** Charges time. Time without competition never counts for more than the turn itself. */
    void charge(long usedNs, boolean contended) {
        long sumNs = debtNs + usedNs;
        debtNs = contended ? sumNs : Math.min(sumNs, Math.max(debtNs, grantedNs));
    }

    /** Ends the turn. A turn that was given back early earns nothing: unused time is not saved up. */
    void ended() {
        debtNs = Math.clamp(debtNs - grantedNs, 0L, MAX_DEBT_QUANTA * grantedNs);
        grantedNs = 0;
    }

    /** Cuts the turn off: the used time becomes a debt, so the next turn is the rest. */
    void interrupted() {
        debtNs = Math.clamp(debtNs, 0L, MAX_DEBT_QUANTA * grantedNs);
        grantedNs = 0;
    }

    /** Returns the debt. */
    long debtNs() {
        return debtNs;
    }
}
