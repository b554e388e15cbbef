/** What an integer register may hold, and arithmetic on that. */
package io.tessera.guardian.fence.proof.value;
