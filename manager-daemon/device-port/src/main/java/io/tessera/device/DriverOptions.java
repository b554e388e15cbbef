package io.tessera.device;

/**
 * What a driver is opened for.
 *
 * @param ordinal     the device, counted as the driver counts
 * @param devices     of devices in software, which have a process each: how many there are
 * @param memoryBytes size of a software GPU's memory; 0 lets it choose. A real device has what it has
 */
public record DriverOptions(int ordinal, int devices, long memoryBytes) {
    /** The first device, with the memory that it has. */
    public static final DriverOptions DEFAULT = new DriverOptions(0, 1, 0);

    /** Refuses what cannot be meant. */
    public DriverOptions {
        if (ordinal < 0 || devices < 1 || memoryBytes < 0) {
            throw new IllegalArgumentException("device " + ordinal + " of " + devices + ", memory " + memoryBytes
                    + " bytes");
        }
    }

    /** As above, where one device in software is all there is. */
    public DriverOptions(int ordinal, long memoryBytes) {
        this(ordinal, 1, memoryBytes);
    }
}
