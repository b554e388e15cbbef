/**
 * Proofs about the addresses that a function forms: their state space, alignment and position. The rewriter asks an {@link
 * io.tessera.guardian.fence.proof.AddressOracle} and trusts the answers. A wrong answer is a way out of the window, so anything that is not proved is
 * {@code Unknown}.
 */
package io.tessera.guardian.fence.proof;
