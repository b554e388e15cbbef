package io.tessera.manager.placement;

import java.util.Comparator;

/** Which of the devices on which a program has room it gets. Stateless. */
public interface PlacementRule {
    /** The device that comes first is taken; of equal ones the first in the order in which the program counts them. */
    Comparator<DeviceUse> order();

    /** What makes a device the first: a predicate whose subject is the device. */
    String has(DeviceUse device);
}
