package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.Arrays;

/**
 * Pairs of uniform registers that hold both bounds for a high word to which another uniform register is added, see {@link SummedAddresses}. A pair only
 * counts if two consecutive instructions computed it. One owner thread.
 */
final class UniformBounds {
    private static final int PAIRS = InstructionWord.ZERO_UNIFORM / 2 + 1;
    /** The state before the first path to a place is known. */
    private static final byte ANYTHING = -1;
    private static final int LONG_AGO = Integer.MIN_VALUE;

    /** Indexed by pair: the uniform register with the high word that is added; 0 if there are no bounds. */
    private final byte[] added = new byte[PAIRS];
    private final int[] since = new int[PAIRS];
    /** The last lower bound that was computed: the instruction, its register and what it is for. */
    private int lowerAt = -1;
    private int lower;
    private int lowerAdded;
    private boolean any;

    /** Records that an instruction was executed at a time; {@code at} is its number. */
    void after(int at, FenceStep step, long low, MachineOpcode operation, int time) {
        int first = InstructionWord.uniformDestination(low);
        boolean pair = step == FenceStep.UPPER_BOUND && lowerAt >= 0 && lowerAt == at - 1 && lower == first - 1 && (first & 1) == 1
                && first < InstructionWord.ZERO_UNIFORM
                && FenceStep.subtracted(low) == lowerAdded && (lowerAdded & ~1) != lower;
        if (operation.uniforms() > 0 && any) {
            forget(first, operation.uniforms());
        }
        lowerAt = -1;
        if (pair) {
            added[first >>> 1] = (byte) FenceStep.subtracted(low);
            since[first >>> 1] = time;
            any = true;
        } else if (step == FenceStep.LOWER_BOUND) {
            lowerAt = at;
            lower = first;
            lowerAdded = FenceStep.subtracted(low);
        }
    }

    private void forget(int first, int count) {
        for (int pair = 0; pair < PAIRS; pair++) {
            for (int u = first; u < first + count; u++) {
                if (u >>> 1 == pair || added[pair] == u) {
                    added[pair] = 0;
                }
            }
        }
    }

    /** Assumes that a pair holds the bounds for a high word, computed by instructions that the rewriter will insert. */
    void assume(int pair, int uniform) {
        added[pair >>> 1] = (byte) uniform;
        since[pair >>> 1] = LONG_AGO;
        any = true;
    }

    /** Returns the uniform register for whose high word a register has been a bound since a time or before; 0: none. An even register is the lower bound. */
    int of(int register, int time) {
        int pair = register >>> 1;
        return added[pair] > 0 && since[pair] <= time ? added[pair] : 0;
    }

    void clear() {
        Arrays.fill(added, (byte) 0);
        lowerAt = -1;
        any = false;
    }

    /** Assumes every fact, before the first path to a place is known. */
    void assumeAll() {
        Arrays.fill(added, ANYTHING);
        Arrays.fill(since, LONG_AGO);
        any = true;
    }

    /** Takes what is known at the start of a block. */
    void set(UniformBounds other) {
        any = other.any;
        lowerAt = -1;
        if (any) {
            System.arraycopy(other.added, 0, added, 0, PAIRS);
        } else {
            Arrays.fill(added, (byte) 0);
        }
        Arrays.fill(since, LONG_AGO);
    }

    /** Keeps only the facts that also hold on another path, at the time of its end. Returns whether any was lost. */
    boolean meet(UniformBounds other, int time) {
        boolean less = false;
        for (int pair = 0; any && pair < PAIRS; pair++) {
            byte there = other.added[pair] > 0 && other.since[pair] > time ? 0 : other.added[pair];
            byte both = added[pair] == ANYTHING ? there : there == ANYTHING || there == added[pair] ? added[pair] : 0;
            less |= both != added[pair];
            added[pair] = both;
        }
        return less;
    }
}
