package io.tessera.manager.schedule.mode;

/**
 * What the memory of a device asks of its schedule. Immutable.
 *
 * @param planned   somebody plans what is resident; if not, the schedule goes by memory in use alone
 * @param turns     clients should take turns for the sake of memory: mode {@code auto} begins with turns and, unless they
 *                  must be, measures whether that is right
 * @param must      what those who run have to have resident does not fit at once: they take turns in every mode
 * @param quantumNs how long turns should be for what moving memory costs, unless somebody set a quantum; 0: as they are
 * @param reason    why, in one sentence
 */
public record MemoryVerdict(boolean planned, boolean turns, boolean must, long quantumNs, String reason) {
    /** Nobody plans. */
    public static final MemoryVerdict UNPLANNED = new MemoryVerdict(false, false, false, 0, "");
}
