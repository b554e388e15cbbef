package io.tessera.memory.residency;

/**
 * State of a device's memory at one time; input of {@link PressureDetector}. Immutable. Sizes in bytes.
 *
 * @param capacityBytes capacity of the device
 * @param fixedBytes    memory in use that cannot be moved
 * @param neededBytes   memory of clients of plan swap that run or await a turn: resident while they run
 * @param managedBytes  memory of clients that run or await a turn, which the driver moves page by page: all of it, because the part in use is unknown
 */
public record PressureSample(long capacityBytes, long fixedBytes, long neededBytes, long managedBytes) {

    /** Returns the memory that would have to be resident for all to run side by side without any move. */
    public long demandBytes() {
        return fixedBytes + neededBytes + managedBytes;
    }
}
