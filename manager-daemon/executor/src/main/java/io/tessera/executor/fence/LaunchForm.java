package io.tessera.executor.fence;

import java.lang.foreign.MemorySegment;

/**
 * One launch as the driver will get it: from the executor's own copy of the record, which no client can change any more. Filled anew for
 * each. One owner thread.
 */
public final class LaunchForm {
    /** Packed parameters. */
    final MemorySegment parameters;
    int parameterBytes;
    int gridX;
    int blockX;
    int blockY;
    double blocks;
    double threads;
    long sharedBytes;
    boolean captured;
    boolean plain;
    /** Whether the driver may wait for all streams in it. */
    boolean loads;

    /**
     * A form for the launches of one client.
     *
     * @param parameters where the packed parameters of each will lie
     */
    public LaunchForm(MemorySegment parameters) {
        this.parameters = parameters;
    }

    /**
     * The next launch.
     *
     * @param bytes of its packed parameters
     * @param grid  blocks in x, unsigned
     * @param x     threads of a block in x, unsigned
     * @param y     the same in y
     */
    public void fill(int bytes, int grid, int x, int y) {
        parameterBytes = bytes;
        gridX = grid;
        blockX = x;
        blockY = y;
    }

    /**
     * How much there is to run; products of three numbers that a client says, which no integer has room for.
     *
     * @param allBlocks    of the grid
     * @param blockThreads of a block
     * @param dynamicBytes of shared memory for each block, unsigned
     */
    public void volume(double allBlocks, double blockThreads, long dynamicBytes) {
        blocks = allBlocks;
        threads = blockThreads;
        sharedBytes = dynamicBytes;
    }

    /** Whether the driver may wait for all streams in it, as {@link ClientKernels#toLaunch} has found. */
    public boolean loads() {
        return loads;
    }

    /**
     * What kind of launch it is.
     *
     * @param isCaptured whether it goes into a graph
     * @param isPlain    whether it says nothing of how many blocks run together: it is not cooperative and not of clusters
     */
    public void kind(boolean isCaptured, boolean isPlain) {
        captured = isCaptured;
        plain = isPlain;
    }
}
