package io.tessera.executor.call;

import io.tessera.executor.print.ClientPrinting;
import io.tessera.executor.stream.CompletionCounters;
import io.tessera.executor.stream.EventWatch;
import io.tessera.protocol.relay.RelaySegment;

/**
 * The means by which one client learns of the progress of its work. Parts are owned by the client's thread, unless their documentation says otherwise.
 *
 * @param segment  the segment that is shared with the client
 * @param words    its completion words
 * @param watch    its watched events
 * @param printing the output of its kernels
 */
public record ClientCompletion(RelaySegment segment, CompletionCounters words, EventWatch watch, ClientPrinting printing) {
}
