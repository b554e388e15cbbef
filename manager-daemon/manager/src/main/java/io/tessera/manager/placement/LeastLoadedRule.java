package io.tessera.manager.placement;

import java.util.Comparator;

/**
 * The least GPU time used lately by the programs that are there, then as {@link SpreadRule}. A program that has yet to start counts as one that uses all of the time: nobody knows
 * better, and of two that start at once each gets a device. Shares that differ by less than a per cent are equal.
 */
final class LeastLoadedRule implements PlacementRule {
    @Override
    public Comparator<DeviceUse> order() {
        return Comparator.<DeviceUse>comparingLong(device -> device.busyPercent() + 100L * device.starting()).thenComparing(new SpreadRule().order());
    }

    @Override
    public String has(DeviceUse device) {
        return "used the least GPU time lately: " + device.busyPercent() + "%, and has " + device.clientsText();
    }
}
