/** The policies against their published behaviour, and the simulation itself. */
package io.tessera.policy.simulation;
