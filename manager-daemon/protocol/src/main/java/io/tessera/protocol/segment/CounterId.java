package io.tessera.protocol.segment;

import java.util.Locale;

/**
 * Process-wide counters of a client, index into {@code counters} of the segment ({@code TESSERA_COUNTER_*}). Numbers are never reused, so an old
 * reader stays correct.
 */
public enum CounterId {
    /** Allocations that succeeded. */
    ALLOCATIONS,
    /** Frees that succeeded. */
    FREES,
    /** Allocations refused by the tenant's limit. */
    LIMIT_REFUSALS,
    /** Allocations turned into managed memory. */
    MANAGED_CONVERSIONS,
    /** Allocations that plan managed left plain. */
    MANAGED_FALLBACKS,
    /** Handles exported: IPC and shareable handles. */
    EXPORTED,
    /** Exports refused because the memory is not the driver's own. */
    EXPORT_REFUSALS,
    /** Calls of cuMemCreate by the program itself. */
    VMM_CREATES,
    /** Pinned host memory in bytes. */
    HOST_PINNED_BYTES,
    /** Calls of cuGetProcAddress. */
    LOOKUPS,
    /** Look-ups that were answered with a hook. */
    SUBSTITUTIONS,
    /** Synchronisations of contexts, streams and events. */
    SYNCHRONISATIONS,
    /** Time inside them, nanoseconds. */
    SYNCHRONISE_NS,
    /** Submissions that found the gate closed. */
    GATE_WAITS,
    /** Time that they waited, nanoseconds. */
    GATE_WAIT_NS,
    /** Submissions held back by the bound on outstanding work. */
    PACE_WAITS,
    /** Time that they waited, nanoseconds. */
    PACE_WAIT_NS,
    /** Registrations after the first. */
    RECONNECTS,
    /** Times that gates were opened because no manager answered. */
    UNGATED,
    /** Stream captures begun. */
    CAPTURES,
    /** Turns given back early. */
    EARLY_RELEASES,
    /** Handles imported: IPC and external memory. */
    IMPORTED,
    /** Frees of memory whose allocation the library did not see. */
    UNTRACKED_FREES;

    private final String label;

    CounterId() {
        StringBuilder camel = new StringBuilder();
        for (String word : name().toLowerCase(Locale.ROOT).split("_")) {
            camel.append(camel.isEmpty() ? word : Character.toUpperCase(word.charAt(0)) + word.substring(1));
        }
        label = camel.toString();
    }

    /** Returns the index into {@code counters}. */
    public int index() {
        return ordinal();
    }

    /** Returns the name in JSON and tables, in camel case: {@code limitRefusals}. */
    public String label() {
        return label;
    }
}
