package io.tessera.manager.admission;

import io.tessera.protocol.DeviceUuid;

/**
 * A device that a program could use.
 *
 * @param uuid       which one
 * @param totalBytes its memory, as the program's driver says
 */
public record CandidateDevice(DeviceUuid uuid, long totalBytes) {
    /** Refuses what is no device's memory. */
    public CandidateDevice {
        if (totalBytes < 1) {
            throw new IllegalArgumentException("a device has more than 0 bytes of memory, not " + totalBytes);
        }
    }
}
