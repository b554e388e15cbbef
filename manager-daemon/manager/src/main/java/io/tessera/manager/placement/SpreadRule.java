package io.tessera.manager.placement;

import java.util.Comparator;

/** The fewest clients, then the most free memory: programs meet as few others as can be. */
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
