package io.tessera.manager.schedule.turn;

import java.util.HashMap;
import java.util.Map;

/**
 * What each client owes after turns that lasted longer than the quantum: deficit round robin (Shreedhar and Varghese,
 * 1995) with time in the place of bytes. Not thread-safe.
 *
 * <p>A turn ends when its queued work has drained, so it overruns by the drain. Without this account a client with
 * long kernels would hold the device longer, turn for turn, than one with short ones.
 */
public final class FairnessLedger {
    /** A client is never asked to make up for more than this many quanta: one endless kernel must not shut it out. */
    private static final long MAX_DEBT_QUANTA = 4;

    /** The shortest turn is this part of a quantum; below it hand-overs would eat what fairness gains. */
    private static final long MINIMUM_DIVISOR = 10;

    private final Map<Long, Long> debtsNs = new HashMap<>();

    /** The shortest turn that a client gets, however much it owes. */
    static long minimumNs(long quantumNs) {
        return Math.max(1, quantumNs / MINIMUM_DIVISOR);
    }

    /** Length of the client's next turn, counted from the grant to the order to stop. */
    public long turnLengthNs(long clientId, long quantumNs) {
        long debtNs = debtNs(clientId);
        return Math.max(minimumNs(quantumNs), quantumNs - debtNs);
    }

    /** Books a turn that took {@code usedNs}. A turn given back early earns nothing: unused time is not saved up. */
    public void charge(long clientId, long quantumNs, long usedNs) {
        long debtNs = debtNs(clientId) + usedNs - quantumNs;
        debtsNs.put(clientId, Math.clamp(debtNs, 0L, MAX_DEBT_QUANTA * quantumNs));
    }

    /** Books a turn that was cut off after {@code usedNs}: the client's next turn is what was left of it. */
    void interrupted(long clientId, long quantumNs, long usedNs) {
        debtsNs.put(clientId, Math.clamp(debtNs(clientId) + usedNs, 0L, MAX_DEBT_QUANTA * quantumNs));
    }

    /** What the client owes now. */
    public long debtNs(long clientId) {
        return debtsNs.getOrDefault(clientId, 0L);
    }

    /** A client that has left owes nothing. */
    public void forget(long clientId) {
        debtsNs.remove(clientId);
    }

    /** Old debts do not outlive a time in which nobody took turns. */
    void clear() {
        debtsNs.clear();
    }
}
