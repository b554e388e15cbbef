/**
 * What can be proved about the addresses that a function forms: their space, alignment and place. The rewriter asks an
 * {@link io.tessera.guardian.fence.proof.AddressOracle} and trusts the answers: a wrong one is a way out of the window, so what is
 * not proved is {@code Unknown}.
 */
package io.tessera.guardian.fence.proof;
