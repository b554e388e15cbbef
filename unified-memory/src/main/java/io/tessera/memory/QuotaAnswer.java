package io.tessera.memory;

/**
 * The answer to an ask that had to wait.
 *
 * @param client that asked
 * @param device   for which device
 * @param decision {@link QuotaDecision.Granted} or {@link QuotaDecision.Refused}
 */
public record QuotaAnswer(long client, String device, QuotaDecision decision) {
}
