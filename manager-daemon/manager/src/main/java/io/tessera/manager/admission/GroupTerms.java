package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.Set;

/**
 * Settings of the places of a group of users. Immutable.
 *
 * @param name    name of the group
 * @param members numbers of its users
 * @param clients maximum number of their clients at once, together; 0: no bound
 * @param each    maximum number for each of them; 0: no bound
 * @param devices devices on which they are placed; empty: all
 */
public record GroupTerms(String name, Set<Integer> members, int clients, int each, Set<DeviceUuid> devices) {
    /** Copies the sets. */
    public GroupTerms {
        members = Set.copyOf(members);
        devices = Set.copyOf(devices);
    }
}
