package io.tessera.policy;

/**
 * {@code credit}: the first in the list that is ready and has credit; if no ready tenant has any, the first that is ready. A tenant without credit
 * moves to the end of the list after its turn. Two tenants with one request at a time each still alternate, whatever they used: when one's request is
 * done, only the other's is waiting. {@link BandPolicy} waits for the next request instead.
 */
final class CreditPolicy extends CreditBook {
    CreditPolicy(PolicySettings settings) {
        super(settings);
    }

    @Override
    long mostSavedNs(long refillNs) {
        return 2 * refillNs;
    }

    @Override
    TurnChoice choose(long nowNs) {
        if (current != null && current.budgetNs < 0) {
            toTail(current);
        }
        return turn(first(), nowNs);
    }
}
