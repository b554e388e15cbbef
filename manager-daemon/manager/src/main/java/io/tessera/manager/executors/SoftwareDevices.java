package io.tessera.manager.executors;

import io.tessera.protocol.segment.SegmentLayout;

/**
 * Devices in software that a manager has executors for.
 *
 * @param count       how many, with an executor each
 * @param memoryBytes memory of each; 0: its own choice
 */
public record SoftwareDevices(int count, long memoryBytes) {
    /** One, with the memory that it chooses. */
    public static final SoftwareDevices STANDARD = new SoftwareDevices(1, 0);

    /** Refuses what cannot be meant. */
    public SoftwareDevices {
        if (count < 1 || count > SegmentLayout.MAX_DEVICES) {
            throw new IllegalArgumentException(count + " devices: 1 to " + SegmentLayout.MAX_DEVICES);
        }
        if (memoryBytes < 0) {
            throw new IllegalArgumentException(memoryBytes + " bytes of memory: 0 or more");
        }
    }
}
