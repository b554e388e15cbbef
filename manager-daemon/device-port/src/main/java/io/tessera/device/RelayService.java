package io.tessera.device;

/** How the relay port serves an entry, from the executor's point of view. */
public enum RelayService {
    /** Answered in the client, or by other records than CALL: a CALL of it is malformed. */
    LOCAL,
    /** Sent as a CALL whose sender waits for the answer. */
    CALL,
    /** Sent as a CALL without a wait for the answer; its first error is reported by a later call. */
    POST,
    /** Refused in the client: a CALL of it is malformed. */
    REFUSED;

    /** Returns whether CALL records may name such an entry. */
    public boolean travels() {
        return this == CALL || this == POST;
    }
}
