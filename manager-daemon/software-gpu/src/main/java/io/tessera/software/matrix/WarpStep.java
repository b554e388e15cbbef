package io.tessera.software.matrix;

import io.tessera.software.execution.BlockState;

/** One instruction of a {@link WarpSequence}. */
interface WarpStep {
    /** Computes from and into the lanes' values. */
    void apply(Lanes lanes);

    /**
     * A warp at work.
     *
     * @param values  of each lane, by slot; a lane that takes no part has zeros
     * @param members lanes that take part
     * @param block   their block
     * @param first   number of lane 0 in the block
     * @param decoded fragments that steps have read as numbers, by the number that the step has for it; null at first
     */
    record Lanes(long[][] values, int members, BlockState block, int first, double[][] decoded) {
        boolean has(int lane) {
            return (members >>> lane & 1) != 0;
        }
    }
}
