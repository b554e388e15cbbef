package io.tessera.executor.call;

import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.executor.stream.EventWatch;
import io.tessera.protocol.relay.RelaySegment;

/**
 * How one client learns how far its work has come. Parts are owned by the client's thread, unless they say otherwise.
 *
 * @param segment  what is shared with the client
 * @param words    its completion words
 * @param watch    its watched events
 * @param printing what its kernels print
 */
public record ClientCompletion(RelaySegment segment, CompletionCounters words, EventWatch watch, ClientPrinting printing) {
}
