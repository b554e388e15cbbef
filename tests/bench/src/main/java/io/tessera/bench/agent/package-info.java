/** The cost of the JVM agent's recording for the application: launches in a loop, with the recorder's calls and without. */
package io.tessera.bench.agent;
