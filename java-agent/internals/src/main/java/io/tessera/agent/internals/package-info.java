/**
 * The two entries of the JDK's internals that the agent uses, and nothing else. A JVM without them is an ordinary
 * case.
 */
package io.tessera.agent.internals;
