/** A simulated device with a bus, clients that keep to the protocol of residency, and a manager that plans it. */
package io.tessera.memory.residency.simulated;
