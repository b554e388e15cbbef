/** Tests of bounds of integers. */
package io.tessera.guardian.fence.proof.value;
