package io.tessera.manager.placement;

import io.tessera.protocol.DeviceUuid;
import java.util.Comparator;
import java.util.List;

/**
 * The device that a program gets. Immutable.
 *
 * @param device UUID of the device
 * @param rule   rule that chose it
 * @param reason reason, in one sentence whose subject is the device
 */
public record PlacementChoice(DeviceUuid device, DevicePlacement rule, String reason) {
    /**
     * Chooses a device. A device without room for the program is taken only if none has room; then it is the one with the most free memory.
     *
     * @param placement   the rule; never one that places no program
     * @param devices     devices that the program could use, at least one, in the order in which it counts them
     * @param wishedBytes maximum need of memory that the program states; 0: not stated
     */
    public static PlacementChoice of(DevicePlacement placement, List<DeviceUse> devices, long wishedBytes) {
        String room = wishedBytes > 0 ? DeviceUse.text(wishedBytes) + " free" : "an eighth of its memory free";
        List<DeviceUse> fitting = devices.stream().filter(device -> device.fits(wishedBytes)).toList();
        if (fitting.isEmpty()) {
            DeviceUse most = devices.stream().min(Comparator.comparingLong(DeviceUse::freeBytes).reversed()).orElseThrow();
            return new PlacementChoice(most.device(), placement, "no device of " + devices.size() + " has " + room
                    + "; it has the most: " + most.freeText() + ", and " + most.clientsText());
        }
        PlacementRule rule = placement.rule();
        DeviceUse first = fitting.stream().min(rule.order()).orElseThrow();
        if (fitting.size() == 1 && devices.size() > 1) {
            return new PlacementChoice(first.device(), placement, "it alone of " + devices.size() + " devices has " + room + ": "
                    + first.freeText() + ", and " + first.clientsText());
        }
        return new PlacementChoice(first.device(), placement, "of " + fitting.size() + (fitting.size() == 1 ? " device" : " devices")
                + " with " + room + " it " + rule.has(first));
    }
}
