package io.tessera.manager.schedule.mode;

/**
 * What the memory of a device requires of its schedule. Immutable.
 *
 * @param planned   residency is planned; otherwise the schedule depends on memory in use alone
 * @param turns     clients should take turns for the sake of memory: mode {@code auto} begins with turns and, unless they
 *                  must be, measures whether that is right
 * @param must      what running clients have to have resident does not fit at once: they take turns in every mode
 * @param quantumNs recommended length of turns, given the cost of moving memory, unless a quantum was set; 0: no change
 * @param reason    reason, in one sentence
 */
public record MemoryVerdict(boolean planned, boolean turns, boolean must, long quantumNs, String reason) {
    /** Verdict if residency is not planned. */
    public static final MemoryVerdict UNPLANNED = new MemoryVerdict(false, false, false, 0, "");
}
