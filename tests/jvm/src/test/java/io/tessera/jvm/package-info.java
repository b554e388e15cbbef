/** Ordinary JVM programs in fresh processes, with the agent, with the wrapper, with both, and where something is broken. */
package io.tessera.jvm;
