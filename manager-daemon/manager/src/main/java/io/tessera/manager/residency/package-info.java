/**
 * Decides which clients are resident on each device: carries the clients' words to the planner of {@code io.tessera.memory.residency} and
 * its targets to the clients, tells the schedule what that means for turns, evicts and brings back (SPEC.md of the protocol, section 9).
 * One owner thread.
 */
package io.tessera.manager.residency;
