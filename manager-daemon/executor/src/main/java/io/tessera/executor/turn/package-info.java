/**
 * Turns of tenants in one context: clients' submissions are held back according to the policies that are also used for whole devices, and GPU time is counted.
 * {@code GateTurns} decides, with time as an argument; {@code SubmissionGate} is the interface for threads.
 */
package io.tessera.executor.turn;
