package io.tessera.manager.executors;

/**
 * Devices in software that a manager has executors for.
 *
 * @param count       how many, with an executor each
 * @param memoryBytes memory of each; 0: its own choice
 */
public record SoftwareDevices(int count, long memoryBytes) {
    /** One, with the memory that it chooses. */
    public static final SoftwareDevices STANDARD = new SoftwareDevices(1, 0);
    /** As many as a program can use (SPEC.md). */
    public static final int MOST = 16;

    /** Refuses what cannot be meant. */
    public SoftwareDevices {
        if (count < 1 || count > MOST || memoryBytes < 0) {
            throw new IllegalArgumentException(count + " devices: 1 to " + MOST);
        }
    }
}
