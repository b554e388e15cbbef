package io.tessera.memory;

import java.util.List;

/** Decision on a client's request for more memory. Immutable. */
public sealed interface QuotaDecision {
    /** Lease and limit of a client without a limit; UINT64_MAX in the segment. */
    long UNLIMITED = Long.MAX_VALUE;

    /**
     * The client may use more.
     *
     * @param leaseBytes its whole new lease; {@link #UNLIMITED} if there is no limit
     */
    record Granted(long leaseBytes) implements QuotaDecision {
    }

    /**
     * The decision is open: others may have memory to give back. The answer comes from {@link QuotaLedger#decided}.
     *
     * @param clients clients that have to be asked to give unused memory back; empty if they were asked already
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
     * @param reason     reason, in a sentence with the numbers
     */
    record Refused(long leaseBytes, String reason) implements QuotaDecision {
    }
}
