package io.tessera.memory.residency;

import java.util.Map;

/**
 * Targets of {@link HostBackingBudget} to be written now. Immutable.
 *
 * @param pinned   by client, pinned memory that it may hold from now on
 * @param pageable by client, pageable backing that it may hold from now on
 * @param reason   state of the host's memory, in one sentence
 */
public record HostTargets(Map<Long, Long> pinned, Map<Long, Long> pageable, String reason) {
    /** Copies both. */
    public HostTargets {
        pinned = Map.copyOf(pinned);
        pageable = Map.copyOf(pageable);
    }
}
