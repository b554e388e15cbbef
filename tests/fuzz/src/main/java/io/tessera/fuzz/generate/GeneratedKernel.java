package io.tessera.fuzz.generate;

import java.util.List;

/**
 * A module with the kernel {@code k(u64 in, u64 out, u32 seed, u64 foreign, u32 count)}. Immutable.
 *
 * @param seed    its seed
 * @param hostile whether its accesses may go anywhere; a legal one is deterministic, accesses only its own memory, and ends
 * @param endless whether it may request endless work
 * @param blocks  blocks of its grid, in x
 * @param threads threads of a block, in x
 * @param scoped  the text to be fenced
 * @param flat    an equivalent text with unique names
 * @param steps   numbers of its steps, each of which can be omitted
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
