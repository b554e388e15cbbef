package io.tessera.device;

/**
 * Options for opening a driver.
 *
 * @param ordinal     the device, in the driver's order
 * @param devices     number of software devices, which have a process each
 * @param memoryBytes size of a software GPU's memory; 0 for its default. Ignored by a real device
 */
public record DriverOptions(int ordinal, int devices, long memoryBytes) {
    /** The first device, with the memory that it has. */
    public static final DriverOptions DEFAULT = new DriverOptions(0, 1, 0);

    /** Refuses invalid values. */
    public DriverOptions {
        if (ordinal < 0 || devices < 1 || memoryBytes < 0) {
            throw new IllegalArgumentException("device " + ordinal + " of " + devices + ", memory " + memoryBytes
                    + " bytes");
        }
    }

    /** As above, with a single software device. */
    public DriverOptions(int ordinal, long memoryBytes) {
        this(ordinal, 1, memoryBytes);
    }
}
