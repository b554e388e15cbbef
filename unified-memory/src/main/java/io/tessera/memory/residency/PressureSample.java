package io.tessera.memory.residency;

/**
 * How a device's memory stands at one time; input of {@link PressureDetector}. Immutable. Sizes in bytes.
 *
 * @param capacityBytes of the device
 * @param fixedBytes    used by memory that cannot be moved
 * @param neededBytes   of clients of plan swap that run or await a turn: has to be resident while they run
 * @param managedBytes  that the driver moves page by page, of clients that run or await a turn: all of it, as nobody knows
 *                      what of it they use
 */
public record PressureSample(long capacityBytes, long fixedBytes, long neededBytes, long managedBytes) {

    /** What would have to be resident for all to run side by side without anything moving. */
    public long demandBytes() {
        return fixedBytes + neededBytes + managedBytes;
    }
}
