package io.tessera.memory.residency;

/**
 * How a device's memory stands at one time; input of {@link PressureDetector}. Immutable. Sizes in bytes; the last four
 * only grow.
 *
 * @param capacityBytes   of the device
 * @param fixedBytes      used by memory that cannot be moved
 * @param neededBytes     of clients of plan swap that run or await a turn: has to be resident while they run
 * @param managedBytes    of clients of plan managed, all of it
 * @param workingSetBytes of these, what they used in their last turns ({@link WorkingSets}); as {@code managedBytes}
 *                        where that is not known
 * @param faultedBytes    brought in by page faults so far; 0 where nobody counts them
 * @param movedBytes      brought in by copies and prefetches so far
 * @param submissions     of all clients so far
 * @param changes         counts clients that came or went, so that what was learned of others is forgotten
 */
public record PressureSample(long capacityBytes, long fixedBytes, long neededBytes, long managedBytes,
        long workingSetBytes, long faultedBytes, long movedBytes, long submissions, long changes) {

    /** What has to be resident for all to run side by side. */
    public long demandBytes() {
        return fixedBytes + neededBytes + workingSetBytes;
    }

    /** The most that can ever be touched. */
    public long reachableBytes() {
        return fixedBytes + neededBytes + managedBytes;
    }
}
