package io.tessera.manager.placement;

import java.util.Comparator;

/**
 * Prefers the least GPU time used recently by the present programs, then decides as {@link SpreadRule}. A program that has not started yet counts as
 * if it used all of the time, because its use is unknown; so of two programs that start at once each gets a device. Shares that differ by less than a
 * per cent are equal.
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
