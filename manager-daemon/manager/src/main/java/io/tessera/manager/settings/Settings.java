package io.tessera.manager.settings;

import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.ShareRules;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.sharing.SharingPreference;
import io.tessera.protocol.DeviceUuid;
import java.util.Map;
import java.util.Optional;

/**
 * What {@code tessera.toml} says. Immutable.
 *
 * @param all     of all devices
 * @param preference which way of sharing programs get that leave it to the manager; empty: the file says nothing
 * @param placement which device a program gets that names none; empty: the file says nothing
 * @param devices of single devices
 * @param rules   of tenants: their terms and places
 * @param limits  bytes of device memory that tenants of executors may use; 0: no limit
 */
record Settings(DeviceSharing all, Optional<SharingPreference> preference, Optional<DevicePlacement> placement,
        Map<DeviceUuid, DeviceSharing> devices,
        ShareRules rules, Map<String, Long> limits) {
    /** The settings of an empty file. */
    static final Settings NONE = new Settings(DeviceSharing.UNSAID, Optional.empty(), Optional.empty(), Map.of(), ShareRules.NONE, Map.of());
}
