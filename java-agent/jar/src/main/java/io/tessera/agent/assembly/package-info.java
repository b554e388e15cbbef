/** Assembles the agent's jar at build time. */
package io.tessera.agent.assembly;
