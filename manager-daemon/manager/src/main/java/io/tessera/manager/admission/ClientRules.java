package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.TenantName;
import java.util.List;
import java.util.Set;

/** What is set now for the places of tenants, users and groups. Called by the owner thread. */
public interface ClientRules {
    /** The terms of a tenant, by its {@link TenantName}. */
    PlaceTerms ofTenant(String name);

    /** The terms of a user. */
    PlaceTerms ofUser(int uid);

    /** The terms of the groups that a user is in and for which something is set. */
    List<GroupTerms> groupsOf(int uid);

    /** The devices that a user's tenant is placed on: the tenant's, else the user's, else the first group's that has any; empty: all. */
    default Set<DeviceUuid> devicesOf(String name, int uid) {
        Set<DeviceUuid> devices = ofTenant(name).devices();
        devices = devices.isEmpty() ? ofUser(uid).devices() : devices;
        return !devices.isEmpty() ? devices
                : groupsOf(uid).stream().map(GroupTerms::devices).filter(all -> !all.isEmpty()).findFirst().orElse(Set.of());
    }
}
