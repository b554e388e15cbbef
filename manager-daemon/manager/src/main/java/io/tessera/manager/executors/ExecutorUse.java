package io.tessera.manager.executors;

import io.tessera.manager.placement.GpuTimes;
import java.util.List;

/**
 * What programs in space sharing use of a device, as its executor last said. Immutable.
 *
 * @param clients    how many they are
 * @param takenBytes memory that they have; of tenants with a limit, the whole limit
 * @param work       what they have counted
 */
public record ExecutorUse(int clients, long takenBytes, List<GpuTimes.ClientWork> work) {
    /** No executor runs on the device. */
    static final ExecutorUse NONE = new ExecutorUse(0, 0, List.of());
}
