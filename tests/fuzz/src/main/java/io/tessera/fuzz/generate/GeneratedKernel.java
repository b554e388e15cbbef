package io.tessera.fuzz.generate;

import java.util.List;

/**
 * A module with the kernel {@code k(u64 in, u64 out, u32 seed, u64 foreign, u32 count)}. Immutable.
 *
 * @param seed    what it was made from
 * @param hostile whether its accesses may go anywhere; a legal one is deterministic, keeps to what it is given, and ends
 * @param endless whether it may ask for endless work
 * @param blocks  blocks of its grid, in x
 * @param threads threads of a block, in x
 * @param scoped  the text that is to be fenced
 * @param flat    a text that means the same, with unique names
 * @param steps   the steps in it; each can be left out
 */
public record GeneratedKernel(long seed, boolean hostile, boolean endless, int blocks, int threads, String scoped, String flat, List<Long> steps) {
    /** Bytes that it reads at {@code in}. */
    public static final int IN_BYTES = MemorySteps.IN_BYTES;

    /** Copies the list. */
    public GeneratedKernel {
        steps = List.copyOf(steps);
    }

    /** Bytes that it writes at {@code out}. */
    public int outBytes() {
        return MemorySteps.OUT_BYTES * blocks * threads;
    }
}
