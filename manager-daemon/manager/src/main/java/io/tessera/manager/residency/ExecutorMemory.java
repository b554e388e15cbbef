package io.tessera.manager.residency;

import io.tessera.protocol.DeviceUuid;

/** Device memory of tenants that share the same GPUs in space. Called by one thread. */
@FunctionalInterface
public interface ExecutorMemory {
    /** Returns the bytes that executors hold of a device for their tenants; 0 if none runs. */
    long bytes(DeviceUuid device);
}
