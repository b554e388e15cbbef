package io.tessera.manager.executors;

import io.tessera.manager.placement.GpuTimes;
import java.util.List;

/**
 * What programs in space sharing use of a device, as last reported by its executor. Immutable.
 *
 * @param clients    number of programs
 * @param takenBytes memory that they have; for tenants with a limit, the whole limit
 * @param work       counts of their work
 */
public record ExecutorUse(int clients, long takenBytes, List<GpuTimes.ClientWork> work) {
    /** No use, because no executor runs on the device. */
    static final ExecutorUse NONE = new ExecutorUse(0, 0, List.of());
}
