package io.tessera.manager.schedule.turn;

import java.util.Objects;

/**
 * Settings by an operator for the turns of one device. Immutable; times in nanoseconds, sizes in bytes.
 *
 * @param quantumNs     length of a turn while another client waits; {@link #STANDARD_QUANTUM_NS} by default
 * @param fitsSecond    the quantum is the default and not an operator's, so turns get shorter if whole rounds then fit into a second ({@link
 *   #turnNs})
 * @param graceNs       time after which a client that was told to stop and has not drained is reported
 * @param drainPolicy   what happens to it afterwards
 * @param capacityBytes device memory that clients may fill before they take turns; 0: {@code totalBytes}
 * @param totalBytes    memory of the device; 0: unknown, and then memory plays no part unless a capacity is given
 * @param idleReleaseNs time without work after which a contended turn goes back
 * @param paceNs        bound on outstanding work in a contended turn, as time to drain; 0: a quarter of the quantum,
 *                      between 5 ms and 50 ms
 * @param auto          constants of the mode {@code auto}
 */
public record ScheduleSettings(long quantumNs, boolean fitsSecond, long graceNs, DrainPolicy drainPolicy,
        long capacityBytes, long totalBytes, long idleReleaseNs, long paceNs, AutoSettings auto) {

    /** Shortest quantum that may be set: below it a hand-over (SPEC.md: up to 2 ms) costs more than the turn. */
    public static final long MIN_QUANTUM_NS = 1_000_000L;

    /** Longest quantum that may be set, an hour: a longer one is a mistyped number. */
    public static final long MAX_QUANTUM_NS = 3_600_000_000_000L;

    /**
     * Default length of a turn: rounds of two tenants are then half a second, and a turn costs 0.4 % (measured: 1 ms a turn on an H200,
     * SCHEDULING.md).
     */
    public static final long STANDARD_QUANTUM_NS = 250_000_000L;

    private static final long MS = 1_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;

    /** Turns are not shortened below this for the sake of whole rounds: a turn's cost of 1 ms is then 1 %. */
    private static final long MIN_FITTED_NS = 100 * MS;

    private static final long MIN_PACE_NS = 5 * MS;
    private static final long MAX_PACE_NS = 50 * MS;

    /** Checks every value. */
    public ScheduleSettings {
        checkQuantum(quantumNs);
        if (graceNs <= 0) {
            throw new IllegalArgumentException("graceNs must be positive, is " + graceNs);
        }
        Objects.requireNonNull(drainPolicy, "drainPolicy");
        if (capacityBytes < 0 || totalBytes < 0) {
            throw new IllegalArgumentException(
                    "negative size: capacityBytes " + capacityBytes + ", totalBytes " + totalBytes);
        }
        if (idleReleaseNs <= 0) {
            throw new IllegalArgumentException("idleReleaseNs must be positive, is " + idleReleaseNs);
        }
        if (paceNs < 0) {
            throw new IllegalArgumentException("paceNs must not be negative, is " + paceNs);
        }
        Objects.requireNonNull(auto, "auto");
    }

    /** Returns the default settings, for a device whose memory is not known. */
    public static ScheduleSettings defaults() {
        return new ScheduleSettings(STANDARD_QUANTUM_NS, true, 10_000 * MS, DrainPolicy.EXTEND, 0, 0, MS, 0,
                AutoSettings.defaults());
    }

    /**
     * Throws if a quantum is out of range.
     *
     * @throws IllegalArgumentException with the bounds, for the operator
     */
    public static void checkQuantum(long quantumNs) {
        if (quantumNs < MIN_QUANTUM_NS || quantumNs > MAX_QUANTUM_NS) {
            throw new IllegalArgumentException("quantum of " + quantumNs + " ns: must be from "
                    + MIN_QUANTUM_NS + " ns (1 ms) to " + MAX_QUANTUM_NS + " ns (1 h)");
        }
    }

    /**
     * Returns the length of turns for this number of clients: the quantum, if it was chosen. The default becomes the longest turn up to the quantum
     * of which a whole number of rounds makes a second, so that in every second each client has the same time. With more than ten clients it stays at
     * 100 ms, and a round takes longer than a second.
     */
    public long turnNs(int clients) {
        if (!fitsSecond || clients < 2) {
            return quantumNs;
        }
        long longestRoundNs = clients * quantumNs;
        long rounds = (SECOND_NS + longestRoundNs - 1) / longestRoundNs;
        return Math.min(quantumNs, Math.max(MIN_FITTED_NS, SECOND_NS / (clients * rounds)));
    }

    /**
     * Returns the bound on outstanding work while no client waits but one might come: a newcomer waits until that work is done, which is never longer
     * than a turn.
     */
    public long loosePaceNs(long turnQuantumNs) {
        return Math.max(paceForNs(turnQuantumNs), Math.min(turnQuantumNs, STANDARD_QUANTUM_NS));
    }

    /** Returns the bound on outstanding work for turns of {@code turnQuantumNs}. */
    public long paceForNs(long turnQuantumNs) {
        return paceNs > 0 ? paceNs : Math.clamp(turnQuantumNs / 4, MIN_PACE_NS, MAX_PACE_NS);
    }

    /** Returns the memory beyond which the device counts as oversubscribed; 0: not known. */
    public long effectiveCapacityBytes() {
        return capacityBytes > 0 ? capacityBytes : totalBytes;
    }

    /** Returns a copy with another quantum, which then holds for any number of clients. */
    public ScheduleSettings withQuantumNs(long ns) {
        return new ScheduleSettings(ns, false, graceNs, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, paceNs, auto);
    }

    /** Returns a copy with another grace. */
    public ScheduleSettings withGraceNs(long ns) {
        return new ScheduleSettings(quantumNs, fitsSecond, ns, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, paceNs,
                auto);
    }

    /** Returns a copy with another policy for clients that do not drain. */
    public ScheduleSettings withDrainPolicy(DrainPolicy policy) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, policy, capacityBytes, totalBytes, idleReleaseNs, paceNs,
                auto);
    }

    /** Returns a copy with another capacity; 0: the device's own. */
    public ScheduleSettings withCapacityBytes(long bytes) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, bytes, totalBytes, idleReleaseNs, paceNs, auto);
    }

    /** Returns a copy for a device of another size; 0: not known. */
    public ScheduleSettings withTotalBytes(long bytes) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, bytes, idleReleaseNs, paceNs,
                auto);
    }

    /** Returns a copy with another idle time before a contended turn goes back. */
    public ScheduleSettings withIdleReleaseNs(long ns) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, totalBytes, ns, paceNs, auto);
    }

    /** Returns a copy with another bound on outstanding work; 0: derived from the quantum. */
    public ScheduleSettings withPaceNs(long ns) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, ns,
                auto);
    }

    /** Returns a copy with other constants of the mode {@code auto}. */
    public ScheduleSettings withAuto(AutoSettings settings) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, paceNs,
                settings);
    }
}
