package io.tessera.manager.conductor;

import io.tessera.protocol.DeviceUuid;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** What operators have ordered about devices: the last word on each thing. One owner thread. */
public final class Orders {
    private final Map<DeviceUuid, DeviceSharing> devices = new LinkedHashMap<>();
    private DeviceSharing all = DeviceSharing.UNSAID;

    /**
     * Takes an order.
     *
     * @param device the device; empty: all of them, also those for which something else was ordered before
     */
    void add(Optional<DeviceUuid> device, DeviceSharing sharing) {
        if (device.isPresent()) {
            devices.merge(device.get(), sharing, DeviceSharing::with);
        } else {
            all = all.with(sharing);
            devices.replaceAll((_, before) -> before.with(sharing));
        }
    }

    /** Takes what was ordered of a device that may not be known yet. */
    public void restore(DeviceUuid device, DeviceSharing sharing) {
        devices.put(device, sharing);
    }

    /** What holds by order for a device. */
    public DeviceSharing of(DeviceUuid device) {
        return all.with(devices.getOrDefault(device, DeviceSharing.UNSAID));
    }

    /** The orders for all devices. */
    public DeviceSharing all() {
        return all;
    }

    /** The orders for single devices. */
    public Map<DeviceUuid, DeviceSharing> devices() {
        return Collections.unmodifiableMap(devices);
    }
}
