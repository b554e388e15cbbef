/** Tests of what is proved of a function's values. */
package io.tessera.guardian.fence.proof.analysis;
