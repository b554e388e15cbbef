package io.tessera.policy.simulation;

import io.tessera.policy.TenantTerms;

/**
 * A change by an operator while a tenant runs.
 *
 * @param atNs   time of the change
 * @param tenant index of the tenant in the trace
 * @param terms  terms from then on
 */
public record TermsChange(long atNs, int tenant, TenantTerms terms) {
}
