/** How often loops repeat, and what their rounds add. */
package io.tessera.guardian.fence.proof.loop;
