package io.tessera.protocol;

/**
 * A client has a context on a device.
 *
 * @param slot       device slot of its segment
 * @param uuid       UUID of the device
 * @param totalBytes memory of the device
 * @param ordinal    CUDA ordinal in the client
 * @param name       name of the device
 */
public record DeviceAnnouncement(int slot, DeviceUuid uuid, long totalBytes, int ordinal, String name) {
}
