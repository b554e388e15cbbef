package io.tessera.protocol.message;

import io.tessera.protocol.DeviceUuid;

/**
 * The manager's description of one executor that serves a client.
 *
 * @param device   number of the device, 0 to {@code count - 1}; the CUDA ordinal in the client
 * @param count    number of all devices; 0: none; {@link #WAIT}: not known yet; in both cases the reason says why
 * @param software whether it is a software GPU
 * @param uuid     UUID of the device; all zero if there is none
 * @param token    token to show to the executor
 * @param socket   path of the executor's socket, at most 103 bytes of UTF-8
 * @param reason   why there is none, cut to fit; otherwise empty
 */
public record RelayAnswer(int device, int count, boolean software, DeviceUuid uuid, RelayToken token, String socket,
        String reason) {
    /** Count that means that the answer comes later; the reason says why. */
    public static final int WAIT = -1;

    /** Returns the answer that there is no executor, with a reason. */
    public static RelayAnswer none(String reason) {
        return without(0, reason);
    }

    /** Returns the answer that the client has to wait longer than it may expect, with a reason. */
    public static RelayAnswer wait(String reason) {
        return without(WAIT, reason);
    }

    private static RelayAnswer without(int count, String reason) {
        return new RelayAnswer(0, count, false, new DeviceUuid(0, 0),
                RelayToken.ofHex("00".repeat(RelayMessageLayout.TOKEN_BYTES)), "", reason);
    }
}
