package io.tessera.policy.simulation;

import io.tessera.policy.TenantTerms;

/**
 * What an operator changes while a tenant runs.
 *
 * @param atNs   when
 * @param tenant index of the tenant in the trace
 * @param terms  what holds from then on
 */
public record TermsChange(long atNs, int tenant, TenantTerms terms) {
}
