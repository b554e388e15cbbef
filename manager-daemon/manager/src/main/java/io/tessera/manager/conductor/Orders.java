package io.tessera.manager.conductor;

import io.tessera.protocol.DeviceUuid;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Orders of operators about devices: the latest order for each setting. One owner thread. */
public final class Orders {
    private final Map<DeviceUuid, DeviceSharing> devices = new LinkedHashMap<>();
    private DeviceSharing all = DeviceSharing.UNSAID;

    /**
     * Adds an order.
     *
     * @param device the device; empty: all devices, including those with earlier orders of their own
     */
    void add(Optional<DeviceUuid> device, DeviceSharing sharing) {
        if (device.isPresent()) {
            devices.merge(device.get(), sharing, DeviceSharing::with);
        } else {
            all = all.with(sharing);
            devices.replaceAll((_, before) -> before.with(sharing));
        }
    }

    /** Restores an order for a device that may not be known yet. */
    public void restore(DeviceUuid device, DeviceSharing sharing) {
        devices.put(device, sharing);
    }

    /** Returns the orders that hold for a device. */
    public DeviceSharing of(DeviceUuid device) {
        return all.with(devices.getOrDefault(device, DeviceSharing.UNSAID));
    }

    /** Returns the orders for all devices. */
    public DeviceSharing all() {
        return all;
    }

    /** Returns the orders for single devices. */
    public Map<DeviceUuid, DeviceSharing> devices() {
        return Collections.unmodifiableMap(devices);
    }
}
