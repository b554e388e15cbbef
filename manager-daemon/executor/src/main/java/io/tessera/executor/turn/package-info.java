/**
 * Turns of tenants in one context: clients' submissions are held back by the policies that also share whole devices, and GPU time is counted.
 * {@code GateTurns} decides, with time coming in; {@code SubmissionGate} is what threads see.
 */
package io.tessera.executor.turn;
