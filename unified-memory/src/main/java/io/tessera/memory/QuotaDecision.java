package io.tessera.memory;

import java.util.List;

/** What becomes of a client's ask for more memory. Immutable. */
public sealed interface QuotaDecision {
    /** The lease and the limit of a client that has none; UINT64_MAX in the segment. */
    long UNLIMITED = Long.MAX_VALUE;

    /**
     * The client may use more.
     *
     * @param leaseBytes its new lease, all of it; {@link #UNLIMITED} where there is no limit
     */
    record Granted(long leaseBytes) implements QuotaDecision {
    }

    /**
     * Not known yet: others may have memory to give back. The answer comes from {@link QuotaLedger#decided}.
     *
     * @param clients to be asked to give back what they do not use; empty if they have been asked already
     */
    record Trim(List<Long> clients) implements QuotaDecision {
        /** Copies the list. */
        public Trim {
            clients = List.copyOf(clients);
        }
    }

    /**
     * The client may not use more.
     *
     * @param leaseBytes its lease, which stays as it was
     * @param reason     why, in a sentence with the numbers
     */
    record Refused(long leaseBytes, String reason) implements QuotaDecision {
    }
}
