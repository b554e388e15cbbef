package io.tessera.manager.executors;

import io.tessera.protocol.segment.SegmentLayout;

/**
 * The software GPUs for which a manager has executors.
 *
 * @param count       number of devices, each with an executor
 * @param memoryBytes memory of each; 0: the executor chooses
 */
public record SoftwareDevices(int count, long memoryBytes) {
    /** One device, with the memory that the executor chooses. */
    public static final SoftwareDevices STANDARD = new SoftwareDevices(1, 0);

    /** Refuses invalid values. */
    public SoftwareDevices {
        if (count < 1 || count > SegmentLayout.MAX_DEVICES) {
            throw new IllegalArgumentException(count + " devices: 1 to " + SegmentLayout.MAX_DEVICES);
        }
        if (memoryBytes < 0) {
            throw new IllegalArgumentException(memoryBytes + " bytes of memory: 0 or more");
        }
    }
}
