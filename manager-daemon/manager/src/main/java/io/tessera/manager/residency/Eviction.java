package io.tessera.manager.residency;

import java.util.List;

/**
 * What becomes of a tenant's clients that were told to leave.
 *
 * @param clients      that leave, counted by device
 * @param notSuspended processes that were to be suspended and are not, each with the reason, in sentences
 */
public record Eviction(int clients, List<String> notSuspended) {
    /** Keeps a copy. */
    public Eviction {
        notSuspended = List.copyOf(notSuspended);
    }
}
