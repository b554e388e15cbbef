/** The answers to the rewriter, from what was proved. */
package io.tessera.guardian.fence.proof.oracle;
