/** A simulated device on which tenants of a trace take turns by a policy, and generators of traces. */
package io.tessera.policy.simulation;
