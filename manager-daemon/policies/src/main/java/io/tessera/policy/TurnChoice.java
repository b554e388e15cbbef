package io.tessera.policy;

/** The result of choosing the next tenant on a device. */
public sealed interface TurnChoice {
    /**
     * A tenant gets a turn.
     *
     * @param tenant   number of the tenant
     * @param lengthNs length of its turn while another tenant is ready; 0: one request
     */
    record Turn(long tenant, long lengthNs) implements TurnChoice {
    }

    /**
     * The device is left unused for a short time, for a tenant that is expected.
     *
     * @param untilNs time to ask again, unless something happens before
     */
    record Delay(long untilNs) implements TurnChoice {
    }

    /** No ready tenant may run now; ask again when something has happened, or at {@link SchedulingPolicy#nextTickNs}. */
    record Nobody() implements TurnChoice {
    }

    /** The only instance that is needed. */
    TurnChoice NOBODY = new Nobody();
}
