package io.tessera.executor.turn;

import io.tessera.policy.TenantTerms;
import java.util.function.BooleanSupplier;

/** One tenant in {@link GateTurns}, the only writer of these fields. */
final class GateTenant {
    static final long NEVER = Long.MIN_VALUE;

    /** The policy's number for it. It is the same when the tenant comes again, so that time owed under a cap is not forgotten. */
    final long number;
    /** Whether it has work on the device that ends by itself. */
    final BooleanSupplier busy;
    TenantTerms terms;
    /** Whether its clients may submit now. Read by their threads. */
    volatile boolean open = true;
    /** Number of its clients with a submission that is held back. */
    int waiting;
    /** Since when it has neither requested nor had a turn; {@link #NEVER}: it requests or has one, or the policy was told that it is idle. */
    long restsSinceNs = NEVER;

    GateTenant(long number, TenantTerms terms, BooleanSupplier busy) {
        this.number = number;
        this.terms = terms;
        this.busy = busy;
    }
}
