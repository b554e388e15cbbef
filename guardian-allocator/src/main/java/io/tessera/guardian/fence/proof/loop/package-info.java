/** Iteration counts of loops, and the increments that their iterations add. */
package io.tessera.guardian.fence.proof.loop;
