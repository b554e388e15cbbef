package io.tessera.policy;

/** A tenant whose turns get shorter by what it owes. */
final class IndebtedTenant extends PolicyTenant {
    final TurnDebt debt = new TurnDebt();

    /** How long it had waited when its last turn began. */
    long waitedNs;

    IndebtedTenant(long id, TenantTerms terms) {
        super(id, terms);
    }
}
