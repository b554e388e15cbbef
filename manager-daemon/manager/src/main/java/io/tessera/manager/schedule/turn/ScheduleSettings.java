package io.tessera.manager.schedule.turn;

import java.util.Objects;

/**
 * What an operator can set about the turns of one device. Immutable; times in nanoseconds, sizes in bytes.
 *
 * @param quantumNs     length of a turn while somebody waits; {@link #STANDARD_QUANTUM_NS} by default
 * @param fitsSecond    the quantum is the default and not somebody's wish, so turns get shorter where that makes whole
 *                      rounds fit into a second ({@link #turnNs})
 * @param graceNs       a client told to stop that has not drained for this long is reported
 * @param drainPolicy   what happens to it then
 * @param capacityBytes device memory that clients may fill before they take turns; 0: {@code totalBytes}
 * @param totalBytes    memory of the device; 0: unknown, and then memory plays no part unless a capacity is given
 * @param idleReleaseNs a contended turn goes back after this long without work
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
     * Length of a turn unless somebody says otherwise: rounds of two tenants are then half a second, and a turn costs
     * 0.4 % (measured: 1 ms a turn on an H200, SCHEDULING.md).
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

    /** The settings in use unless an operator says otherwise, for a device whose memory is not known. */
    public static ScheduleSettings defaults() {
        return new ScheduleSettings(STANDARD_QUANTUM_NS, true, 10_000 * MS, DrainPolicy.EXTEND, 0, 0, MS, 0,
                AutoSettings.defaults());
    }

    /**
     * Rejects a quantum out of range.
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
     * Length of a turn for this number of clients: the quantum, if somebody chose it. The default becomes the longest turn up to the
     * quantum of which a whole number of rounds makes a second, so that in every second each has had the same; with more than ten clients
     * it stays at 100 ms, and a round takes longer than a second.
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
     * The bound on outstanding work while nobody waits but somebody might: one who comes waits for that work to be done,
     * and no longer for it than for a turn.
     */
    public long loosePaceNs(long turnQuantumNs) {
        return Math.max(paceForNs(turnQuantumNs), Math.min(turnQuantumNs, STANDARD_QUANTUM_NS));
    }

    /** The bound on outstanding work that goes with turns of {@code turnQuantumNs}. */
    public long paceForNs(long turnQuantumNs) {
        return paceNs > 0 ? paceNs : Math.clamp(turnQuantumNs / 4, MIN_PACE_NS, MAX_PACE_NS);
    }

    /** Memory beyond which the device counts as oversubscribed; 0: not known. */
    public long effectiveCapacityBytes() {
        return capacityBytes > 0 ? capacityBytes : totalBytes;
    }

    /** The same with another quantum, which then holds for any number of clients. */
    public ScheduleSettings withQuantumNs(long ns) {
        return new ScheduleSettings(ns, false, graceNs, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, paceNs, auto);
    }

    /** The same with another grace. */
    public ScheduleSettings withGraceNs(long ns) {
        return new ScheduleSettings(quantumNs, fitsSecond, ns, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, paceNs,
                auto);
    }

    /** The same with another policy for clients that do not drain. */
    public ScheduleSettings withDrainPolicy(DrainPolicy policy) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, policy, capacityBytes, totalBytes, idleReleaseNs, paceNs,
                auto);
    }

    /** The same with another capacity; 0: the device's own. */
    public ScheduleSettings withCapacityBytes(long bytes) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, bytes, totalBytes, idleReleaseNs, paceNs, auto);
    }

    /** The same for a device of another size; 0: not known. */
    public ScheduleSettings withTotalBytes(long bytes) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, bytes, idleReleaseNs, paceNs,
                auto);
    }

    /** The same with another idle time before a contended turn goes back. */
    public ScheduleSettings withIdleReleaseNs(long ns) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, totalBytes, ns, paceNs, auto);
    }

    /** The same with another bound on outstanding work; 0: derived from the quantum. */
    public ScheduleSettings withPaceNs(long ns) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, ns,
                auto);
    }

    /** The same with other constants of the mode {@code auto}. */
    public ScheduleSettings withAuto(AutoSettings settings) {
        return new ScheduleSettings(quantumNs, fitsSecond, graceNs, drainPolicy, capacityBytes, totalBytes, idleReleaseNs, paceNs,
                settings);
    }
}
