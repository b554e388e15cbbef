package io.tessera.manager.residency;

import java.util.List;

/**
 * Outcome of an order to a tenant's clients to leave.
 *
 * @param clients      number of clients that leave, counted by device
 * @param notSuspended reasons why processes that were to be suspended are not, as sentences
 */
public record Eviction(int clients, List<String> notSuspended) {
    /** Keeps a copy. */
    public Eviction {
        notSuspended = List.copyOf(notSuspended);
    }
}
