package io.tessera.manager.placement;

import java.util.Comparator;

/** Prefers the least free memory, then the most clients: whole devices stay free for programs that need one. */
final class PackRule implements PlacementRule {
    @Override
    public Comparator<DeviceUse> order() {
        return Comparator.comparingLong(DeviceUse::freeBytes).thenComparing(Comparator.comparingInt(DeviceUse::clients).reversed());
    }

    @Override
    public String has(DeviceUse device) {
        return "has the least free memory: " + device.freeText() + ", and " + device.clientsText();
    }
}
