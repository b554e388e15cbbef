package io.tessera.policy;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

/** Steps through a policy with a clock of its own; tenants are numbered from 1. */
final class PolicySteps {
    static final long MS = 1_000_000L;

    final SchedulingPolicy policy;
    long nowNs;

    PolicySteps(SchedulingPolicy policy) {
        this.policy = policy;
    }

    /** Joins tenants of the given terms. */
    PolicySteps with(TenantTerms... terms) {
        for (int i = 0; i < terms.length; i++) {
            policy.joined(i + 1, terms[i], nowNs);
        }
        return this;
    }

    void ready(long... tenants) {
        for (long tenant : tenants) {
            policy.ready(tenant, 1, nowNs, nowNs);
        }
    }

    /** Returns the next tenant, which must exist. */
    TurnChoice.Turn turn() {
        return assertInstanceOf(TurnChoice.Turn.class, policy.next(nowNs));
    }

    /** Lets the next tenant use the device for this long; it has more work afterwards. Returns its number. */
    long turnOf(long usedNs) {
        TurnChoice.Turn turn = turn();
        use(turn.tenant(), usedNs);
        ready(turn.tenant());
        return turn.tenant();
    }

    void use(long tenant, long usedNs) {
        nowNs += usedNs;
        policy.charged(tenant, usedNs, nowNs);
    }
}
