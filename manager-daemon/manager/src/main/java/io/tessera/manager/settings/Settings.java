package io.tessera.manager.settings;

import io.tessera.manager.conductor.DeviceSharing;
import io.tessera.manager.conductor.ShareRules;
import io.tessera.protocol.DeviceUuid;
import java.util.Map;

/**
 * What {@code tessera.toml} says. Immutable.
 *
 * @param all     of all devices
 * @param devices of single devices
 * @param rules   of tenants in turns
 * @param limits  bytes of device memory that tenants of executors may use; 0: no limit
 */
record Settings(DeviceSharing all, Map<DeviceUuid, DeviceSharing> devices, ShareRules rules, Map<String, Long> limits) {
    /** Of an empty file. */
    static final Settings NONE = new Settings(DeviceSharing.UNSAID, Map.of(), ShareRules.NONE, Map.of());
}
