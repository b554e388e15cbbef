/** Puts the agent's jar together while it is built. */
package io.tessera.agent.assembly;
