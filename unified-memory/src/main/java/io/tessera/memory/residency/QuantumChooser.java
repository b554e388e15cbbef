package io.tessera.memory.residency;

import java.util.List;

/**
 * Chooses the length of turns when memory has to be moved for them: long enough that moves cost at most a set share of the turn.
 * Immutable, thread-safe.
 *
 * <p>With a share of 5 %, clients that keep the device busy together take at most 1.05 times as long as one after the other. A quantum that an
 * operator set is not changed.
 *
 * @param moveShare     time spent on moves, as a share of the turn that they precede; 0.05: 5 %
 * @param maxQuantumNs  longest turn that moves lead to: the patience of operators, not a technical bound. At this length the share may be exceeded
 *   (130 GB at 49.3 GB/s take 2.6 s, 9 % of 30 s)
 */
public record QuantumChooser(double moveShare, long maxQuantumNs) {
    /** Quanta change in steps, so that not every allocation changes the terms of all clients. */
    private static final long STEP_NS = 100_000_000L;

    /**
     * The part of the share that copying may take. The rest is for other losses: the first turns, which begin before the moves are measured, and the
     * drain. With 0.6 two trainings on an H200 took 3.4 % longer than in sequence on 16 GiB (copying 2.9 %), and 5.2 % on 8 GiB, where two more
     * hand-overs came at the ends (2026-11-22).
     */
    private static final double COPYING = 0.5;

    /** Number of rounds after which the moves of a round repeat; the first one only fills the device. */
    private static final int ROUNDS = 3;

    /**
     * A client that takes turns: the memory that has to be resident for its turn, the part of it that never leaves, and the part that has contents
     * and has to be copied. The contents are assumed to be spread evenly over this memory.
     */
    public record Participant(long neededBytes, long guaranteeBytes, long contentBytes) {
        /** Checks all values. */
        public Participant {
            if (neededBytes < 0 || guaranteeBytes < 0 || contentBytes < 0 || contentBytes > neededBytes) {
                throw new IllegalArgumentException("not sizes: " + neededBytes + ", " + guaranteeBytes + ", " + contentBytes);
            }
        }

        /** Creates a participant whose memory has contents in all parts. */
        public Participant(long neededBytes, long guaranteeBytes) {
            this(neededBytes, guaranteeBytes, neededBytes);
        }

        private double contentShare() {
            return neededBytes == 0 ? 0 : (double) contentBytes / neededBytes;
        }
    }

    /** Checks both values. */
    public QuantumChooser {
        if (!(moveShare > 0 && moveShare <= 1)) {
            throw new IllegalArgumentException("moveShare must lie in (0, 1], is " + moveShare);
        }
        if (maxQuantumNs <= 0) {
            throw new IllegalArgumentException("maxQuantumNs must be positive, is " + maxQuantumNs);
        }
    }

    /** Returns the defaults: 5 %, at most 30 s, which is nvshare's default turn and known to be acceptable to its users. */
    public static QuantumChooser defaults() {
        return new QuantumChooser(0.05, 30_000_000_000L);
    }

    /**
     * Returns the length of turns.
     *
     * @param setQuantumNs  quantum if nothing is moved
     * @param explicit      whether an operator set it, so that it is used as it is
     * @param capacityBytes capacity for memory that can be moved: without fixed memory
     * @param participants  clients in the order of their turns
     * @param rates         measured rates
     */
    public long quantumNs(long setQuantumNs, boolean explicit, long capacityBytes, List<Participant> participants,
            MoveRates rates) {
        if (explicit) {
            return setQuantumNs;
        }
        Handover handover = handover(capacityBytes, participants);
        return stretchedNs(setQuantumNs, rates.handoverNs(handover.changedBytes(), handover.copiedBytes()));
    }

    /**
     * Returns the length of turns if the time of a hand-over's copies is known. Half of the share is kept for other losses.
     */
    public long stretchedNs(long setQuantumNs, double moveNsPerTurn) {
        long wholeNs = (long) Math.ceil(moveNsPerTurn / (COPYING * moveShare) / STEP_NS) * STEP_NS;
        return Math.max(setQuantumNs, Math.min(wholeNs, maxQuantumNs));
    }

    /**
     * Memory that comes in at a hand-over. The same amount leaves, once the device is full.
     *
     * @param changedBytes all memory that comes in
     * @param copiedBytes  part of it that has contents
     */
    public record Handover(long changedBytes, long copiedBytes) {
    }

    /**
     * Returns what comes in at a hand-over, on average over a round, if all take turns in order and the planner takes memory from the client whose
     * turn is farthest away.
     */
    public static Handover handover(long capacityBytes, List<Participant> participants) {
        int count = participants.size();
        long total = participants.stream().mapToLong(Participant::neededBytes).sum();
        if (count < 2 || total <= capacityBytes) {
            return new Handover(0, 0);
        }
        long[] resident = new long[count];
        long free = capacityBytes;
        long changed = 0;
        double copied = 0;
        for (int turn = 0; turn < ROUNDS * count; turn++) {
            int runner = turn % count;
            long missing = Math.max(0, participants.get(runner).neededBytes() - resident[runner]);
            changed += turn < (ROUNDS - 1) * count ? 0 : missing;
            copied += turn < (ROUNDS - 1) * count ? 0 : missing * participants.get(runner).contentShare();
            resident[runner] += missing;
            free -= missing;
            for (int back = 1; back < count && free < 0; back++) {
                int victim = Math.floorMod(runner - back, count);
                long spare = resident[victim] - Math.min(resident[victim], participants.get(victim).guaranteeBytes());
                long taken = Math.min(spare, -free);
                resident[victim] -= taken;
                free += taken;
            }
        }
        return new Handover(changed / count, (long) (copied / count));
    }
}
