package io.tessera.policy.simulation;

import io.tessera.policy.TenantTerms;
import java.util.Objects;

/**
 * A tenant of a trace.
 *
 * @param name  name, unique within the trace
 * @param terms initial terms: weight, priority and so on
 */
public record TraceTenant(String name, TenantTerms terms) {
    /** Checks for null. */
    public TraceTenant {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(terms, "terms");
    }
}
