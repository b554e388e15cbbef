/** Tests of what is proved of addresses. */
package io.tessera.guardian.fence.proof.oracle;
