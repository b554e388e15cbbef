package io.tessera.memory.residency;

import java.util.List;

/**
 * Chooses the length of turns when memory has to be moved for them: long enough that moving costs at most a set share of the turn.
 * Immutable, thread-safe.
 *
 * <p>With a share of 5 % clients that keep the device busy take at most 1.05 times as long together as one after the
 * other. A quantum that somebody set is taken as it is.
 *
 * @param moveShare     time spent moving, as a part of the turn that it is for; 0.05: 5 %
 * @param maxQuantumNs  longest turn that moving leads to: an operator's patience, not a technical bound. Where it is
 *                      reached the share is exceeded (130 GB at 49.3 GB/s take 2.6 s, 9 % of 30 s)
 */
public record QuantumChooser(double moveShare, long maxQuantumNs) {
    /** Quanta come in steps, so that every allocation does not change everybody's terms. */
    private static final long STEP_NS = 100_000_000L;

    /**
     * The part of the share that copying may take. The rest is for what is lost beside it: the first turns, which begin before the
     * moves are measured, and the drain. With 0.6 two trainings on an H200 took 3.4 % longer than one after the other on 16 GiB (copying
     * 2.9 %), and 5.2 % on 8 GiB, where two more hand-overs came at the ends (2026-11-22).
     */
    private static final double COPYING = 0.5;

    /** Rounds after which the moves of a round repeat; the first one only fills the device. */
    private static final int ROUNDS = 3;

    /**
     * A client that takes turns: what has to be resident for its turn, how much of that never leaves, and how much of it has contents,
     * so that it has to be copied. Which part that is does not matter: what moves has its share of the contents.
     */
    public record Participant(long neededBytes, long guaranteeBytes, long contentBytes) {
        /** Checks all. */
        public Participant {
            if (neededBytes < 0 || guaranteeBytes < 0 || contentBytes < 0 || contentBytes > neededBytes) {
                throw new IllegalArgumentException("not sizes: " + neededBytes + ", " + guaranteeBytes + ", " + contentBytes);
            }
        }

        /** All of its memory has contents. */
        public Participant(long neededBytes, long guaranteeBytes) {
            this(neededBytes, guaranteeBytes, neededBytes);
        }

        private double contentShare() {
            return neededBytes == 0 ? 0 : (double) contentBytes / neededBytes;
        }
    }

    /** Checks both. */
    public QuantumChooser {
        if (!(moveShare > 0 && moveShare <= 1)) {
            throw new IllegalArgumentException("moveShare must lie in (0, 1], is " + moveShare);
        }
        if (maxQuantumNs <= 0) {
            throw new IllegalArgumentException("maxQuantumNs must be positive, is " + maxQuantumNs);
        }
    }

    /** 5 %, at most 30 s: nvshare's default turn, which its users are known to bear. */
    public static QuantumChooser defaults() {
        return new QuantumChooser(0.05, 30_000_000_000L);
    }

    /**
     * The length of turns.
     *
     * @param setQuantumNs  what holds where nothing is moved
     * @param explicit      somebody set it, so it is taken as it is
     * @param capacityBytes for memory that can be moved: without what is fixed
     * @param participants  in the order of their turns
     * @param rates         as measured
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
     * The same where it is known how long the copies of a hand-over take. Half of the share is kept for what is not
     * copying.
     */
    public long stretchedNs(long setQuantumNs, double moveNsPerTurn) {
        long wholeNs = (long) Math.ceil(moveNsPerTurn / (COPYING * moveShare) / STEP_NS) * STEP_NS;
        return Math.max(setQuantumNs, Math.min(wholeNs, maxQuantumNs));
    }

    /**
     * What comes in at a hand-over. As much leaves, once the device is full.
     *
     * @param changedBytes all that comes in
     * @param copiedBytes  of that, what has contents
     */
    public record Handover(long changedBytes, long copiedBytes) {
    }

    /**
     * What comes in at a hand-over, on average over a round, when all take turns in order and the planner takes memory from
     * whose turn is farthest away.
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
