package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.message.TenantName;
import java.util.List;
import java.util.Set;

/** The current settings of the places of tenants, users and groups. Called by the owner thread. */
public interface ClientRules {
    /** Returns the terms of a tenant, by its {@link TenantName}. */
    PlaceTerms ofTenant(String name);

    /** Returns the terms of a user. */
    PlaceTerms ofUser(int uid);

    /** Returns the terms of the groups that a user is in, if they have settings. */
    List<GroupTerms> groupsOf(int uid);

    /**
     * Returns the devices on which a user's tenant is placed: the tenant's, else the user's, else those of the first group that has any; empty: all.
     */
    default Set<DeviceUuid> devicesOf(String name, int uid) {
        Set<DeviceUuid> devices = ofTenant(name).devices();
        devices = devices.isEmpty() ? ofUser(uid).devices() : devices;
        return !devices.isEmpty() ? devices
                : groupsOf(uid).stream().map(GroupTerms::devices).filter(all -> !all.isEmpty()).findFirst().orElse(Set.of());
    }
}
