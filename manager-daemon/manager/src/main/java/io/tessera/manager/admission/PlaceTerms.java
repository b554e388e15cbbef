package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.Set;

/**
 * Settings of the places of a tenant or user. Immutable.
 *
 * @param clients maximum number of its clients at once; 0: no bound
 * @param devices devices on which it is placed; empty: all
 */
public record PlaceTerms(int clients, Set<DeviceUuid> devices) {
    /** Terms without any setting. */
    public static final PlaceTerms NONE = new PlaceTerms(0, Set.of());

    /** Copies the set. */
    public PlaceTerms {
        devices = Set.copyOf(devices);
    }
}
