package io.tessera.protocol.segment;

/**
 * One distinct error of a client.
 *
 * @param code    the driver's result, or {@code -errno}
 * @param count   number of occurrences
 * @param firstNs first time, CLOCK_REALTIME nanoseconds
 * @param lastNs  last time, CLOCK_REALTIME nanoseconds
 * @param text    what happened
 */
public record LoggedError(int code, long count, long firstNs, long lastNs, String text) {
}
