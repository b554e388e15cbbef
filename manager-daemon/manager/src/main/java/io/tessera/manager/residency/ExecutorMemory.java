package io.tessera.manager.residency;

import io.tessera.protocol.DeviceUuid;

/** Device memory of tenants that share the same GPUs in space. Called by one thread. */
@FunctionalInterface
public interface ExecutorMemory {
    /** What executors hold of a device for their tenants, in bytes; 0 where none runs. */
    long bytes(DeviceUuid device);
}
