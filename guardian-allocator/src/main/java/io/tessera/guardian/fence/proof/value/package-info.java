/** Abstract values of integer registers, and arithmetic on them. */
package io.tessera.guardian.fence.proof.value;
