/** Tests of residency: properties, an exhaustive optimum, a simulated cluster, the protocol's interleavings. */
package io.tessera.memory.residency;
