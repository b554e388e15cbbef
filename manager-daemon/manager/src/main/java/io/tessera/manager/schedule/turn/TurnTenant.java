package io.tessera.manager.schedule.turn;

import io.tessera.policy.TenantTerms;
import java.util.LinkedHashSet;
import java.util.Set;

/** A tenant on one device as the queue for turns knows it: its clients, and what an operator set for it. Owned by {@link TurnQueue}. */
final class TurnTenant {
    /** What the policy knows it by. */
    final long number;
    final String name;
    TenantTerms terms;
    final Set<ClientTurn> clients = new LinkedHashSet<>();

    /** Those of them that wait, in the order in which they asked. */
    final Set<ClientTurn> waiting = new LinkedHashSet<>();

    /** The one that has the turn; null: none has. */
    ClientTurn running;

    /** Since when it has neither run nor waited. */
    long stoppedNs;

    /** The policy still takes it for one that will be back soon. */
    boolean expected;

    TurnTenant(long number, String name, TenantTerms terms) {
        this.number = number;
        this.name = name;
        this.terms = terms;
    }
}
