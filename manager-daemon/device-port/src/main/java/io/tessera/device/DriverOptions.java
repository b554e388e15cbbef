package io.tessera.device;

/**
 * What a driver is opened for.
 *
 * @param ordinal     the device, counted as the driver counts
 * @param memoryBytes size of a software GPU's memory; 0 lets it choose. A real device has what it has
 */
public record DriverOptions(int ordinal, long memoryBytes) {
    /** The first device, with the memory that it has. */
    public static final DriverOptions DEFAULT = new DriverOptions(0, 0);

    /** Refuses what cannot be meant. */
    public DriverOptions {
        if (ordinal < 0 || memoryBytes < 0) {
            throw new IllegalArgumentException("ordinal " + ordinal + ", memory " + memoryBytes + " bytes");
        }
    }
}
