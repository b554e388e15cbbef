package io.tessera.executor.call;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Bound on the blocks and threads of a launch. A GPU begins every block of a grid, even if each ends at once because its tenant's kernels are to end, and
 * nothing else ends a grid. Stateless.
 */
public final class GridBound {
    /** The maximum of a grid's size in x. An H100 begins and ends 2^32 blocks of a warp each in 3.7 s. */
    private static final long MOST_BLOCKS = 1L << 31;
    /** More than any GPU has bytes. An H100 begins and ends 2^39 in blocks of 1,024 in 7 s. */
    private static final long MOST_THREADS = 1L << 37;

    static final String REMEDY = "; launch several smaller grids";

    private GridBound() {
    }

    /**
     * Checks a launch.
     *
     * @param at offset of the grid's x, y and z, followed by the block's, each of 32 bits, unsigned
     * @throws RejectedException if it has more; with a line for the program
     */
    public static void check(MemorySegment structure, long at) throws RejectedException {
        long blocks = volume(structure, at);
        long threads = volume(structure, at + 12);
        if (blocks > MOST_BLOCKS || threads != 0 && blocks > MOST_THREADS / threads) {
            throw RejectedException.value("a grid of " + shape(structure, at) + " blocks of " + shape(structure, at + 12)
                    + " threads; in space sharing a launch has at most 2^31 blocks and 2^37 threads" + REMEDY);
        }
    }

    /** No more than what is refused for any block. */
    private static long volume(MemorySegment structure, long at) {
        long volume = 1;
        for (int i = 0; i < 3; i++) {
            volume = Math.min(volume * Integer.toUnsignedLong(structure.get(WireTypes.U32, at + 4L * i)), MOST_THREADS);
            if (volume == 0) {
                return 0; // the driver refuses it
            }
        }
        return volume;
    }

    private static String shape(MemorySegment structure, long at) {
        return Integer.toUnsignedString(structure.get(WireTypes.U32, at)) + " x " + Integer.toUnsignedString(structure.get(WireTypes.U32, at + 4))
                + " x "
                + Integer.toUnsignedString(structure.get(WireTypes.U32, at + 8));
    }
}
