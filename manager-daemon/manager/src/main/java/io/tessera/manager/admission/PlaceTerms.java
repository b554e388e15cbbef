package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.Set;

/**
 * What is set for the places of a tenant or user. Immutable.
 *
 * @param clients how many it may have at once; 0: no bound
 * @param devices those that it is placed on; empty: all
 */
public record PlaceTerms(int clients, Set<DeviceUuid> devices) {
    /** Nothing is set. */
    public static final PlaceTerms NONE = new PlaceTerms(0, Set.of());

    /** Copies the set. */
    public PlaceTerms {
        devices = Set.copyOf(devices);
    }
}
