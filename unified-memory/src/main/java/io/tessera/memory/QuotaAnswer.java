package io.tessera.memory;

/**
 * The answer to a request that had to wait.
 *
 * @param client   the client that asked
 * @param device   the device that it asked for
 * @param decision {@link QuotaDecision.Granted} or {@link QuotaDecision.Refused}
 */
public record QuotaAnswer(long client, String device, QuotaDecision decision) {
}
