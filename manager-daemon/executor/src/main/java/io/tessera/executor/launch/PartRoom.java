package io.tessera.executor.launch;

import io.tessera.executor.fence.ClientKernels;
import io.tessera.executor.fence.LaunchPlan;
import io.tessera.executor.fence.Launchable;
import io.tessera.executor.part.ProcessorParts;

/**
 * Decides whether a launch whose blocks may wait for each other can run on a part of the processors. It can if all its blocks run there at the same time. It
 * also can if not even all processors hold its blocks at once: then its program cannot rely on that, and a block only waits for blocks that began before it,
 * or that begin when others have ended. One owner thread.
 */
final class PartRoom {
    private final ClientKernels kernels;
    private final ProcessorParts processors;

    PartRoom(ClientKernels kernels, ProcessorParts processors) {
        this.kernels = kernels;
        this.processors = processors;
    }

    /**
     * Returns whether a part has room.
     *
     * @param function   the driver's function
     * @param inClusters whether the launch names a size of clusters. The number of clusters that a part holds is unknown.
     * @param together   whether the launch is a cooperative one
     */
    boolean has(int part, LaunchPlan launch, Launchable kernel, long function, boolean inClusters, boolean together) {
        if (!together && !kernel.mayWaitForBlocks()) {
            return true;
        }
        int held = kernels.blocksPerProcessor(kernel, function, launch.threads(), launch.sharedBytes());
        return has(launch.blocks(), held, inClusters, together, processors.processors(part), processors.processors(ProcessorParts.WHOLE));
    }

    /**
     * Returns whether some processors have room for blocks that may wait for each other.
     *
     * @param held as {@link ClientKernels#blocksPerProcessor}
     * @param some how many processors the part has
     * @param all  how many there are
     */
    static boolean has(long blocks, int held, boolean inClusters, boolean together, int some, int all) {
        if (held == ClientKernels.NOT_SAID) {
            return !inClusters && blocks <= some;
        }
        long each = Math.abs((long) held);
        boolean atOnce = !inClusters && held > 0 && blocks <= each * some;
        return atOnce || !together && blocks > each * all;
    }
}
