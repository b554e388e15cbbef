package io.tessera.policy.simulation;

import io.tessera.policy.TenantTerms;
import java.util.Objects;

/**
 * A tenant of a trace.
 *
 * @param name  unique within the trace
 * @param terms weight, priority and so on, to begin with
 */
public record TraceTenant(String name, TenantTerms terms) {
    /** Checks for null. */
    public TraceTenant {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(terms, "terms");
    }
}
