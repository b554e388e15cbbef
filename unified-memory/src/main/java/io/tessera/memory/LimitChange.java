package io.tessera.memory;

import java.util.List;
import java.util.Map;

/**
 * What a changed limit, or a client that came with a lease of its own, means for the clients. Immutable.
 *
 * @param leases clients whose lease changed at once, with the new one: they have to be told
 * @param trim   clients that have to be asked to give back what they do not use
 */
public record LimitChange(Map<Long, Long> leases, List<Long> trim) {
    /** Copies both. */
    public LimitChange {
        leases = Map.copyOf(leases);
        trim = List.copyOf(trim);
    }
}
