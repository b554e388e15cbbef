package io.tessera.memory.residency;

import java.util.Map;

/**
 * What {@link HostBackingBudget} wants written now. Immutable.
 *
 * @param pinned   by client, what it may pin from now on
 * @param pageable by client, what it may hold as pageable backing from now on
 * @param reason   how the host stands, in one sentence
 */
public record HostTargets(Map<Long, Long> pinned, Map<Long, Long> pageable, String reason) {
    /** Copies both. */
    public HostTargets {
        pinned = Map.copyOf(pinned);
        pageable = Map.copyOf(pageable);
    }
}
