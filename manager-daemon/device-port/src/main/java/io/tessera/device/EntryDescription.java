package io.tessera.device;

import java.util.List;

/**
 * Description of an entry.
 *
 * @param entry      the entry
 * @param api        the call of which it is a version: {@code cuMemAlloc} for {@code cuMemAlloc_v2}
 * @param perThread  whether stream 0 is the per-thread default stream
 * @param known      whether its parameters are known; otherwise it cannot be called
 * @param relay      how the relay port serves it
 * @param parameters in order
 */
public record EntryDescription(DriverEntry entry, DriverApi api, boolean perThread, boolean known,
        RelayService relay, List<ParameterDescription> parameters) {
    /** Copies the list. */
    public EntryDescription {
        parameters = List.copyOf(parameters);
    }
}
