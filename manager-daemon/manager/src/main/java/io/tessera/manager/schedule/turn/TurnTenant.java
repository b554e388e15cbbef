package io.tessera.manager.schedule.turn;

import io.tessera.policy.TenantTerms;
import java.util.LinkedHashSet;
import java.util.Set;

/** A tenant on one device in the queue for turns: its clients, and an operator's settings for it. Owned by {@link TurnQueue}. */
final class TurnTenant {
    /** Its number in the policy. */
    final long number;
    final String name;
    TenantTerms terms;
    final Set<ClientTurn> clients = new LinkedHashSet<>();

    /** Those clients that wait, in the order in which they asked. */
    final Set<ClientTurn> waiting = new LinkedHashSet<>();

    /** The client that has the turn; null: none. */
    ClientTurn running;

    /** Time since which it has neither run nor waited. */
    long stoppedNs;

    /** Whether the policy still expects it to come back soon. */
    boolean expected;

    TurnTenant(long number, String name, TenantTerms terms) {
        this.number = number;
        this.name = name;
        this.terms = terms;
    }
}
