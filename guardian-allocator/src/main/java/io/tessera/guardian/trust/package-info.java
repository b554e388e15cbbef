/**
 * Images of machine code that a user trusts to run unfenced, by hash: written by {@code tessera fence --trust}, read by
 * executors under the policy {@code trusted}. Start with {@link io.tessera.guardian.trust.TrustList}. JDK only.
 */
package io.tessera.guardian.trust;
