package io.tessera.manager.placement;

import java.util.Comparator;

/** A rule that chooses among the devices on which a program has room. Stateless. */
public interface PlacementRule {
    /** Returns the order of devices. The first device is taken; of equal ones the first in the order in which the program counts them. */
    Comparator<DeviceUse> order();

    /** Returns why a device is the first: a predicate whose subject is the device. */
    String has(DeviceUse device);
}
