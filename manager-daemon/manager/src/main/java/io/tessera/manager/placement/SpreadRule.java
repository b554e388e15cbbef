package io.tessera.manager.placement;

import java.util.Comparator;

/** Prefers the fewest clients, then the most free memory: programs share with as few others as possible. */
final class SpreadRule implements PlacementRule {
    @Override
    public Comparator<DeviceUse> order() {
        return Comparator.comparingInt(DeviceUse::clients).thenComparing(Comparator.comparingLong(DeviceUse::freeBytes).reversed());
    }

    @Override
    public String has(DeviceUse device) {
        return "has the fewest clients: " + device.clients() + ", and " + device.freeText() + " free";
    }
}
