package io.tessera.protocol.message;

import io.tessera.protocol.DeviceUuid;

/**
 * One executor that serves a client, as the manager tells it.
 *
 * @param device   its number, 0 to {@code count - 1}; the CUDA ordinal in the client
 * @param count    devices in all; 0: none, and the reason says why; {@link #WAIT}: it is not known yet, likewise
 * @param software whether it is the software GPU
 * @param uuid     the device; all zero where there is none
 * @param token    shown to the executor
 * @param socket   path of the executor's socket, at most 103 bytes of UTF-8
 * @param reason   why there is none, cut to fit; else empty
 */
public record RelayAnswer(int device, int count, boolean software, DeviceUuid uuid, RelayToken token, String socket,
        String reason) {
    /** A count: the answer comes later, and the reason says why. */
    public static final int WAIT = -1;

    /** No executor, for a reason. */
    public static RelayAnswer none(String reason) {
        return without(0, reason);
    }

    /** The answer comes later than the client may expect, for a reason. */
    public static RelayAnswer wait(String reason) {
        return without(WAIT, reason);
    }

    private static RelayAnswer without(int count, String reason) {
        return new RelayAnswer(0, count, false, new DeviceUuid(0, 0),
                RelayToken.ofHex("00".repeat(RelayMessageLayout.TOKEN_BYTES)), "", reason);
    }
}
