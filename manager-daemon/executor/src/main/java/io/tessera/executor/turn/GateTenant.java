package io.tessera.executor.turn;

import io.tessera.policy.TenantTerms;
import java.util.function.BooleanSupplier;

/** One tenant in {@link GateTurns}, the only writer of these fields. */
final class GateTenant {
    static final long NEVER = Long.MIN_VALUE;

    /** The policy's number of it: the same when it comes again, so that what it owes under a cap is not forgotten. */
    final long number;
    /** Whether it has work on the device that ends by itself. */
    final BooleanSupplier busy;
    TenantTerms terms;
    /** Whether its clients may submit now. Read by their threads. */
    volatile boolean open = true;
    /** Number of its clients with a submission that is held back. */
    int waiting;
    /** Since when it has neither asked nor had a turn; {@link #NEVER}: it has, or the policy knows that it is idle. */
    long restsSinceNs = NEVER;

    GateTenant(long number, TenantTerms terms, BooleanSupplier busy) {
        this.number = number;
        this.terms = terms;
        this.busy = busy;
    }
}
