package io.tessera.manager.settings;

import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.ShareRules;
import io.tessera.manager.placement.DevicePlacement;
import io.tessera.manager.sharing.SharingPreference;
import io.tessera.protocol.DeviceUuid;
import java.util.Map;
import java.util.Optional;

/**
 * Contents of {@code tessera.toml}. Immutable.
 *
 * @param all        sharing of all devices
 * @param preference way of sharing for programs that leave it to the manager; empty: not in the file
 * @param placement  rule for the device of a program that names none; empty: not in the file
 * @param devices    sharing of single devices
 * @param rules      terms and places of tenants
 * @param limits     bytes of device memory that tenants of executors may use; 0: no limit
 */
record Settings(DeviceSharing all, Optional<SharingPreference> preference, Optional<DevicePlacement> placement,
        Map<DeviceUuid, DeviceSharing> devices,
        ShareRules rules, Map<String, Long> limits) {
    /** The settings of an empty file. */
    static final Settings NONE = new Settings(DeviceSharing.UNSAID, Optional.empty(), Optional.empty(), Map.of(), ShareRules.NONE, Map.of());
}
