package io.tessera.manager.schedule;

/**
 * What the memory of a device asks of its schedule. Immutable.
 *
 * @param planned   somebody plans what is resident; if not, the schedule goes by memory in use alone
 * @param turns     what those who run need does not fit at once, so they have to take turns, whatever the mode
 * @param quantumNs how long turns should be for what moving memory costs, unless somebody set a quantum; 0: as they are
 * @param reason    why, in one sentence
 */
public record MemoryVerdict(boolean planned, boolean turns, long quantumNs, String reason) {
    /** Nobody plans. */
    public static final MemoryVerdict UNPLANNED = new MemoryVerdict(false, false, 0, "");
}
