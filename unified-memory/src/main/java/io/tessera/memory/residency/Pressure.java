package io.tessera.memory.residency;

/**
 * What {@link PressureDetector} says. Immutable.
 *
 * @param turns  clients have to take turns for the sake of memory
 * @param kind   which of the rules says so
 * @param reason why or why not, in one sentence with the numbers
 */
public record Pressure(boolean turns, Kind kind, String reason) {
    /** The rules, the first that applies. */
    public enum Kind {
        /** Everything fits. */
        NONE,
        /** What has to be resident does not fit: nothing could run otherwise. */
        SHORT,
        /** Managed memory does not fit together: if clients use all of theirs, running freely they evict each other. */
        OVERLAPPING
    }
}
