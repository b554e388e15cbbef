package io.tessera.memory;

import java.util.List;
import java.util.Map;

/**
 * Effect on the clients of a changed limit, or of a client that came with a lease of its own. Immutable.
 *
 * @param leases new leases of clients whose lease changed at once; they have to be told
 * @param trim   clients that have to be asked to give unused memory back
 */
public record LimitChange(Map<Long, Long> leases, List<Long> trim) {
    /** Copies both. */
    public LimitChange {
        leases = Map.copyOf(leases);
        trim = List.copyOf(trim);
    }
}
