package io.tessera.manager.admission;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Numbers of taken places, by registered clients and by programs for which a place is kept. Used by the owner thread, for one question. */
final class PlaceCounts {
    private int all;
    private final Map<Integer, Integer> users = new HashMap<>();
    private final Map<AdmissionRoom.Owner, Integer> tenants = new HashMap<>();

    PlaceCounts(Collection<AdmissionRoom.Owner> clients, List<AdmissionEntry> kept) {
        clients.forEach(this::add);
        kept.forEach(entry -> add(entry.wish));
    }

    void add(AdmissionWish wish) {
        add(new AdmissionRoom.Owner(wish.uid(), wish.tenant()));
    }

    void add(AdmissionRoom.Owner owner) {
        all++;
        users.merge(owner.uid(), 1, Integer::sum);
        tenants.merge(owner, 1, Integer::sum);
    }

    int all() {
        return all;
    }

    int ofUser(int uid) {
        return users.getOrDefault(uid, 0);
    }

    int ofUsers(Collection<Integer> uids) {
        return users.entrySet().stream().filter(user -> uids.contains(user.getKey())).mapToInt(Map.Entry::getValue).sum();
    }

    int ofTenant(int uid, String label) {
        return tenants.getOrDefault(new AdmissionRoom.Owner(uid, label), 0);
    }
}
