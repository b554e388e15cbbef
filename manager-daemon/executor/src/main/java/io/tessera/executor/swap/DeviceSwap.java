package io.tessera.executor.swap;

/**
 * The parts that all tenants of a device share to have memory that is not on it. Thread-safe.
 *
 * @param kernel looks at memory that leaves
 * @param host   memory that it is copied to
 * @param turns chooses the tenants that leave and come
 * @param reserveBytes that are left for the driver's own needs, as code and local memory, while others could leave the device
 */
public record DeviceSwap(ContentKernel kernel, HostFrames host, ResidencyTurns turns, long reserveBytes) {
}
