package io.tessera.policy;

/** A tenant whose turns are shortened by its debt. */
final class IndebtedTenant extends PolicyTenant {
    final TurnDebt debt = new TurnDebt();

    /** Time that it had waited when its last turn began. */
    long waitedNs;

    IndebtedTenant(long id, TenantTerms terms) {
        super(id, terms);
    }
}
