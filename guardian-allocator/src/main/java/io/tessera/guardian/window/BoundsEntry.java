package io.tessera.guardian.window;

import java.util.Objects;

/**
 * An entry of the partition bounds table: the window of one tenant on one device. Immutable.
 *
 * @param tenant          its label
 * @param device          the device's name for the manager, such as its UUID
 * @param baseAddress     of the window
 * @param sizeBytes       of the window, a power of two
 * @param devicePartBytes of the window, from its base on
 * @param committedBytes  physical device memory that is now mapped in the window, without the sink
 * @param quotaBytes      {@link Long#MAX_VALUE} for none
 */
public record BoundsEntry(String tenant, String device, long baseAddress, long sizeBytes, long devicePartBytes,
        long committedBytes, long quotaBytes) {
    /** Checks that the numbers are those of a window. */
    public BoundsEntry {
        Objects.requireNonNull(tenant, "tenant");
        Objects.requireNonNull(device, "device");
        if (Long.bitCount(sizeBytes) != 1 || sizeBytes < WindowLayout.MIN_SIZE_BYTES || baseAddress < 0
                || (baseAddress & (sizeBytes - 1)) != 0 || baseAddress > Long.MAX_VALUE - sizeBytes) {
            throw new IllegalArgumentException("no window: " + sizeBytes + " bytes at 0x"
                    + Long.toHexString(baseAddress));
        }
        if (devicePartBytes <= 0 || devicePartBytes > sizeBytes || committedBytes < 0
                || committedBytes > devicePartBytes || quotaBytes < 0) {
            throw new IllegalArgumentException("no bounds: device part " + devicePartBytes + ", committed "
                    + committedBytes + ", quota " + quotaBytes);
        }
    }

    /** The window's place. */
    public WindowPlace place() {
        return new WindowPlace(baseAddress, sizeBytes);
    }
}
