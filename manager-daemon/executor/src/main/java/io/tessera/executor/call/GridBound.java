package io.tessera.executor.call;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Bound on the blocks and threads of a launch. A grid cannot be ended as a whole: a GPU starts every block, even if each one ends at once because its tenant's
 * kernels have to end. Stateless.
 */
public final class GridBound {
    /** Maximum blocks: as many as a grid may have in x. An H100 starts and ends 2^32 blocks of one warp each in 3.7 s. */
    private static final long MOST_BLOCKS = 1L << 31;
    /** Maximum threads: 128 Gi, more than any GPU has bytes. An H100 starts and ends 2^39 threads in blocks of 1,024 in 7 s. */
    private static final long MOST_THREADS = 1L << 37;

    static final String REMEDY = "; launch several smaller grids";

    private GridBound() {
    }

    /**
     * Checks a launch.
     *
     * @param at offset of the grid's x, y and z, followed by the block's, each of 32 bits, unsigned
     * @throws RejectedException if the launch exceeds a bound; with a line for the program
     */
    public static void check(MemorySegment structure, long at) throws RejectedException {
        long blocks = volume(structure, at);
        long threads = volume(structure, at + 12);
        if (blocks > MOST_BLOCKS || threads != 0 && blocks > MOST_THREADS / threads) {
            throw RejectedException.value("a grid of " + shape(structure, at) + " blocks of " + shape(structure, at + 12)
                    + " threads; in space sharing a launch has at most 2^31 blocks and 2^37 threads" + REMEDY);
        }
    }

    /** Returns the product of three dimensions, limited to a number that is refused in any case. */
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
