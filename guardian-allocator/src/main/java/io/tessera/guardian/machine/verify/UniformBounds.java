package io.tessera.guardian.machine.verify;

import io.tessera.guardian.machine.code.InstructionWord;
import io.tessera.guardian.machine.code.MachineOpcode;
import java.util.Arrays;

/**
 * Pairs of uniform registers that hold both bounds for high words to which another uniform register is added, see {@link SummedAddresses}. The pair counts for a time when both
 * were computed by two instructions in a row. One owner thread.
 */
final class UniformBounds {
    private static final int PAIRS = InstructionWord.ZERO_UNIFORM / 2 + 1;
    /** Before the first way to a place is known. */
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

    /** An instruction was executed, at a time. It is given by its number, too. */
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

    /** A pair holds the bounds for a high word, as instructions that are to be put in will compute them. */
    void assume(int pair, int uniform) {
        added[pair >>> 1] = (byte) uniform;
        since[pair >>> 1] = LONG_AGO;
        any = true;
    }

    /** The high word for which a register is the lower bound, if it is even, or the upper one, since a time or before; 0: none. */
    int of(int register, int time) {
        int pair = register >>> 1;
        return added[pair] > 0 && since[pair] <= time ? added[pair] : 0;
    }

    /** Forgets all bounds. */
    void clear() {
        Arrays.fill(added, (byte) 0);
        lowerAt = -1;
        any = false;
    }

    /** Everything is assumed, before the first way to a place is known. */
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

    /** Keeps what is known on another way to this place, too, at the time of its end. Returns whether that is less. */
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
