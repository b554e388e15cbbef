package io.tessera.guardian.fence.loop;

import io.tessera.guardian.ptx.Instruction;

/**
 * A loop that looks at the stop word between parts of its iterations. Immutable.
 *
 * @param branch  the branch that closes it
 * @param counted its counter
 * @param rounds  maximum number of iterations of a part
 */
record PartedLoop(Instruction branch, LoopText.Counted counted, long rounds) {
    /** Most rounds of a part. The look takes as long as some hundred of the shortest rounds. */
    static final long ROUNDS = 1 << 14;
    private static final long FARTHEST = 1 << 30;
    /** Steps of {@code setp.ne} have this many low bits that are zero, at most. */
    private static final int MOST_BITS = 16;

    /** Returns whether a loop's iterations can be divided into parts. */
    static boolean fit(LoopText.Counted counted) {
        long step = Math.abs((long) counted.step());
        boolean equal = counted.compare().modifiers().getFirst().equals("ne");
        return counted.parted() && (equal ? Long.bitCount(step) == 1 && counted.bound().ignoredBits() <= MOST_BITS : step <= FARTHEST / ROUNDS);
    }
}
