package io.tessera.memory.residency;

/**
 * Result of {@link PressureDetector}. Immutable.
 *
 * @param turns  clients have to take turns for the sake of memory
 * @param kind   rule that applies
 * @param reason reason, in one sentence with the numbers
 */
public record Pressure(boolean turns, Kind kind, String reason) {
    /** The rules; the first one that applies counts. */
    public enum Kind {
        /** Everything fits. */
        NONE,
        /** The memory that has to be resident does not fit: without turns nothing could run. */
        SHORT,
        /** Managed memory does not fit together: if clients use all of theirs, running freely they evict each other. */
        OVERLAPPING
    }
}
