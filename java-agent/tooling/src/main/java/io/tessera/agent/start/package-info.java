/** Start of the agent: options, the bootstrap classes, the driver, and everything else as late as possible. */
package io.tessera.agent.start;
