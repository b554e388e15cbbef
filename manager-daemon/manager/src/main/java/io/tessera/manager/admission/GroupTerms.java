package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import java.util.Set;

/**
 * What is set for the places of a group of users. Immutable.
 *
 * @param name    of the group
 * @param members the numbers of its users
 * @param clients how many they may have at once together; 0: no bound
 * @param each    how many each of them may have; 0: no bound
 * @param devices those that they are placed on; empty: all
 */
public record GroupTerms(String name, Set<Integer> members, int clients, int each, Set<DeviceUuid> devices) {
    /** Copies the sets. */
    public GroupTerms {
        members = Set.copyOf(members);
        devices = Set.copyOf(devices);
    }
}
