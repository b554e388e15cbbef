package io.tessera.executor.swap;

/**
 * The objects that all tenants of a device share for memory that is off the device. Thread-safe.
 *
 * @param kernel       examines memory that leaves
 * @param host         host memory for copies
 * @param turns        chooses the tenants that leave and come back
 * @param handed       memory on its way from one tenant to the next
 * @param reserveBytes device memory that is left for the driver's own needs, such as code and local memory, while others could leave the device
 */
public record DeviceSwap(ContentKernel kernel, HostFrames host, ResidencyTurns turns, HandedPieces handed, long reserveBytes) {
}
