package io.tessera.software.program;

import java.util.List;

/**
 * Instructions that run one after the other: control enters at the first and leaves at the last.
 *
 * @param first      index of the first instruction
 * @param end        index after the last
 * @param successors indices (into {@link Function#blocks()}) of the blocks that may follow; empty at the end of a
 *                   function
 */
public record BasicBlock(int first, int end, List<Integer> successors) {
    /** Keeps its own copy. */
    public BasicBlock {
        successors = List.copyOf(successors);
    }
}
