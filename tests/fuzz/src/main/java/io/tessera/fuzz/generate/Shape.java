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
record Shape(boolean hostile, boolean endless, int blocks, int threads, int cluster, boolean named, boolean inner, boolean calls, boolean inRegisters) {
    static Shape of(Random random) {
        boolean hostile = random.nextInt(2) == 0;
        int cluster = random.nextInt(12) == 0 ? 2 : 1;
        return new Shape(hostile, hostile && random.nextInt(100) == 0, cluster * (random.nextInt(4) == 0 ? 2 : 1), random.nextInt(8) == 0 ? 64 : 32, cluster,
                random.nextInt(3) == 0, random.nextInt(10) == 0, random.nextInt(3) == 0, random.nextInt(3) == 0);
    }
}
