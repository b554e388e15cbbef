/** The JVM that hosts the agent: its modules and its stderr. */
package io.tessera.agent.host;
