package io.tessera.fuzz.generate;

import java.util.Random;

/**
 * What a generated module is like as a whole.
 *
 * @param hostile   whether indices, addresses and bounds may be anything
 * @param endless   whether a hostile one has loops that never end, or waits that nobody ends
 * @param blocks    blocks of its grid
 * @param threads   threads of a block
 * @param cluster   blocks of a cluster; 1: it has nothing to do with clusters
 * @param named     whether it says its block's size
 * @param inner     whether blocks inside a function declare local variables
 * @param calls     whether it has functions, and calls them
 * @param inRegisters whether functions take and return registers
 */
record ModuleShape(boolean hostile, boolean endless, int blocks, int threads, int cluster, boolean named, boolean inner, boolean calls,
        boolean inRegisters) {
    /** Parts of a warp take the least time, and are all that most steps need. */
    private static final int[] THREADS = {8, 8, 8, 8, 8, 32, 32, 64};

    /** Threads of a warp that there are. */
    int lanes() {
        return Math.min(threads, 32);
    }

    /** Those of a warp that take part in what all do together, as PTX has it. */
    String mask() {
        return lanes() == 32 ? "-1" : Integer.toString((1 << lanes()) - 1);
    }

    static ModuleShape of(Random random) {
        boolean hostile = random.nextInt(2) == 0;
        int cluster = random.nextInt(12) == 0 ? 2 : 1;
        return new ModuleShape(hostile, hostile && random.nextInt(100) == 0, cluster * (random.nextInt(4) == 0 ? 2 : 1),
                THREADS[random.nextInt(THREADS.length)], cluster,
                random.nextInt(3) == 0, random.nextInt(10) == 0, random.nextInt(3) == 0, random.nextInt(3) == 0);
    }
}
