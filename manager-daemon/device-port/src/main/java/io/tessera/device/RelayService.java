package io.tessera.device;

/** How the relay port serves an entry, as far as the executor sees it. */
public enum RelayService {
    /** Answered in the client, or by records that are no CALL: a CALL of it is malformed. */
    LOCAL,
    /** Travels as a CALL whose sender waits for the answer. */
    CALL,
    /** Travels as a CALL that nobody waits for; its first error comes with a later one. */
    POST,
    /** Refused in the client: a CALL of it is malformed. */
    REFUSED;

    /** Returns whether CALL records may name such an entry. */
    public boolean travels() {
        return this == CALL || this == POST;
    }
}
