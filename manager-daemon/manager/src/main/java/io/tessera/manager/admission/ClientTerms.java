package io.tessera.manager.admission;

import java.util.List;
import java.util.Map;

/**
 * The written maximum numbers of clients at once, and the devices on which clients are placed. Immutable.
 *
 * @param tenants terms by the tenant's name
 * @param users   terms by the user's number
 * @param groups  terms of groups of users
 */
public record ClientTerms(Map<String, PlaceTerms> tenants, Map<Integer, PlaceTerms> users, List<GroupTerms> groups) implements ClientRules {
    /** Terms without any setting. */
    public static final ClientTerms NONE = new ClientTerms(Map.of(), Map.of(), List.of());

    /** Copies the maps. */
    public ClientTerms {
        tenants = Map.copyOf(tenants);
        users = Map.copyOf(users);
        groups = List.copyOf(groups);
    }

    @Override
    public PlaceTerms ofTenant(String name) {
        return tenants.getOrDefault(name, PlaceTerms.NONE);
    }

    @Override
    public PlaceTerms ofUser(int uid) {
        return users.getOrDefault(uid, PlaceTerms.NONE);
    }

    @Override
    public List<GroupTerms> groupsOf(int uid) {
        return groups.stream().filter(group -> group.members().contains(uid)).toList();
    }
}
