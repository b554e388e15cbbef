package io.tessera.fuzz.generate;

import java.util.Random;

/**
 * Properties of a generated module as a whole.
 *
 * @param hostile   whether indices, addresses and bounds may be anything
 * @param endless   whether a hostile one has loops or waits that never end
 * @param blocks    blocks of its grid
 * @param threads   threads of a block
 * @param cluster   blocks of a cluster; 1: it does not use clusters
 * @param named     whether it declares its block's size
 * @param inner     whether blocks inside a function declare local variables
 * @param calls     whether it has functions, and calls them
 * @param inRegisters whether functions take and return registers
 */
record ModuleShape(boolean hostile, boolean endless, int blocks, int threads, int cluster, boolean named, boolean inner, boolean calls,
        boolean inRegisters) {
    /** Block sizes: parts of a warp take the least time, and are enough for most steps. */
    private static final int[] THREADS = {8, 8, 8, 8, 8, 32, 32, 64};

    /** Returns the number of threads in a warp. */
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
