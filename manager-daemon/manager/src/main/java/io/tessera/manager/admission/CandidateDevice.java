package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;

/**
 * A device that a program could use.
 *
 * @param uuid       UUID of the device
 * @param totalBytes its memory, as the program's driver reports it
 */
public record CandidateDevice(DeviceUuid uuid, long totalBytes) {
    /** Refuses a size that no device can have. */
    public CandidateDevice {
        if (totalBytes < 1) {
            throw new IllegalArgumentException("a device has more than 0 bytes of memory, not " + totalBytes);
        }
    }
}
