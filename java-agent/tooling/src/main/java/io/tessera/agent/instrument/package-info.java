/** Instrumentation of the CUDA libraries: the rules on which methods, and the advice for them. */
package io.tessera.agent.instrument;
