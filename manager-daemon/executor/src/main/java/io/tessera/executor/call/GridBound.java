package io.tessera.executor.call;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * How many blocks a launch may have. A GPU begins every block of a grid, also when each ends at once because its tenant's kernels are
 * to end, and nothing else ends a grid. Stateless.
 */
public final class GridBound {
    /** An H100 begins a block in each cycle of its clock or two: so many take it 2.5 to 5 s. */
    public static final long MOST_BLOCKS = 1L << 32;

    private GridBound() {
    }

    /**
     * Checks the extents of a grid.
     *
     * @param at where x, y and z stand, each of 32 bits, unsigned
     * @throws RejectedException if the grid has more blocks; with a line for the program
     */
    public static void check(MemorySegment structure, long at) throws RejectedException {
        long x = Integer.toUnsignedLong(structure.get(WireTypes.U32, at));
        long y = Integer.toUnsignedLong(structure.get(WireTypes.U32, at + 4));
        long z = Integer.toUnsignedLong(structure.get(WireTypes.U32, at + 8));
        if (x == 0 || y == 0 || z == 0) {
            return; // the driver refuses it
        }
        if (x > MOST_BLOCKS / y || x * y > MOST_BLOCKS / z) {
            throw RejectedException.value("a grid of " + x + " x " + y + " x " + z + " blocks; in space sharing a launch has at most " + MOST_BLOCKS);
        }
    }
}
