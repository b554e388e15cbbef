/** Answers the rewriter's questions from proved facts. */
package io.tessera.guardian.fence.proof.oracle;
