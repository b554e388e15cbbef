/**
 * Turns of tenants in one context: clients' submissions are held back by the policies that also share whole devices, and GPU time is counted. {@code GateTurns}
 * decides, with time as an argument; {@code SubmissionGate} is the interface for threads.
 */
package io.tessera.executor.turn;
