/** What is computed once for a function: what its values may be, and where its pointers come from. */
package io.tessera.guardian.fence.proof.analysis;
