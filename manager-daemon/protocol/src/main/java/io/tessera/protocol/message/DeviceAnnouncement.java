package io.tessera.protocol.message;

import io.tessera.protocol.DeviceUuid;

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
    /** Maximum memory of a device: the 256 TiB that addresses of 48 bits reach. A thousand times as much still fits into a long. */
    public static final long MOST_BYTES = 1L << 48;
}
