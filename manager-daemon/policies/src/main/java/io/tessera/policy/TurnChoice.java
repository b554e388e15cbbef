package io.tessera.policy;

/** The next tenant on a device. */
public sealed interface TurnChoice {
    /**
     * A tenant is.
     *
     * @param tenant   its number
     * @param lengthNs how long its turn lasts while another tenant is ready; 0: one request
     */
    record Turn(long tenant, long lengthNs) implements TurnChoice {
    }

    /**
     * The device is left unused for a moment, for a tenant that is expected.
     *
     * @param untilNs ask again then, or when something has happened
     */
    record Delay(long untilNs) implements TurnChoice {
    }

    /** No ready tenant may run now; ask again when something has happened, or at {@link SchedulingPolicy#nextTickNs}. */
    record Nobody() implements TurnChoice {
    }

    /** The only one of its kind that is needed. */
    TurnChoice NOBODY = new Nobody();
}
