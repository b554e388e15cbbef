package io.tessera.software.processor;

import io.tessera.software.execution.GridRunner;
import io.tessera.software.launch.DeviceLimits;
import io.tessera.software.launch.Dim3;
import io.tessera.software.launch.LaunchRefusedException;
import io.tessera.software.launch.LaunchRefusedException.Reason;
import io.tessera.software.launch.LaunchSpec;
import io.tessera.software.program.Kernel;
import java.util.List;

/**
 * The terms of a launch that was found to be possible.
 *
 * @param cluster         blocks per dimension of a cluster; one where there is none
 * @param explicitCluster whether the launch or the kernel asked for clusters
 */
record LaunchValidator(Dim3 cluster, boolean explicitCluster) {
    /** Limits of a grid's extents (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"). */
    private static final int GRID_X = Integer.MAX_VALUE;
    private static final int GRID_YZ = 65535;
    private static final int BLOCK_Z = 64;

    /**
     * Checks a launch.
     *
     * @throws LaunchRefusedException with the reason
     */
    static LaunchValidator of(Kernel kernel, LaunchSpec spec, DeviceLimits limits) {
        Dim3 grid = spec.grid();
        Dim3 block = spec.block();
        refuseIf(!within(grid, GRID_X, GRID_YZ, GRID_YZ), Reason.INVALID_VALUE, "grid " + grid);
        refuseIf(!within(block, limits.threadsPerBlock(), limits.threadsPerBlock(), BLOCK_Z)
                || block.count() > limits.threadsPerBlock(), Reason.INVALID_VALUE,
                "block " + block
                        + ", at most " + limits.threadsPerBlock() + " threads");
        refuseIf(spec.parameters().length > kernel.parameterBytes(), Reason.INVALID_VALUE, spec.parameters().length
                + " bytes of parameters, the kernel takes " + kernel.parameterBytes());
        int maxThreads = kernel.limits().maxThreads();
        refuseIf(maxThreads != 0 && block.count() > maxThreads, Reason.OUT_OF_RESOURCES, block.count()
                + " threads, the kernel was compiled for " + maxThreads);
        long shared = (long) kernel.staticSharedBytes() + spec.dynamicSharedBytes();
        refuseIf(spec.dynamicSharedBytes() < 0 || shared > limits.sharedBytesPerBlock(), Reason.OUT_OF_RESOURCES,
                shared + " bytes of shared memory, at most " + limits.sharedBytesPerBlock());
        LaunchValidator check = cluster(kernel, spec, limits);
        long resident = GridRunner.residentBlocks(limits, block.count(), shared);
        refuseIf(spec.cooperative() && grid.count() > resident, Reason.COOPERATIVE_TOO_LARGE, grid.count()
                + " blocks, " + resident + " fit on the device together");
        return check;
    }

    private static LaunchValidator cluster(Kernel kernel, LaunchSpec spec, DeviceLimits limits) {
        List<Integer> required = kernel.limits().clusterDim();
        boolean fromKernel = required.getFirst() != 0;
        Dim3 cluster = Dim3.ONE;
        if (fromKernel) {
            cluster = new Dim3(required.get(0), Math.max(1, required.get(1)), Math.max(1, required.get(2)));
            refuseIf(spec.cluster() != null && !spec.cluster().equals(cluster), Reason.INVALID_CLUSTER,
                    "cluster " + spec.cluster() + ", the kernel requires " + cluster);
        } else if (spec.cluster() != null) {
            cluster = spec.cluster();
        }
        Dim3 grid = spec.grid();
        refuseIf(!within(cluster, limits.clusterBlocks(), limits.clusterBlocks(), limits.clusterBlocks())
                || cluster.count() > limits.clusterBlocks(), Reason.INVALID_CLUSTER,
                "cluster " + cluster
                        + ", at most " + limits.clusterBlocks() + " blocks");
        refuseIf(grid.x() % cluster.x() != 0 || grid.y() % cluster.y() != 0 || grid.z() % cluster.z() != 0,
                Reason.INVALID_CLUSTER, "cluster " + cluster + " does not divide grid " + grid);
        return new LaunchValidator(cluster, fromKernel || spec.cluster() != null);
    }

    private static boolean within(Dim3 extents, int x, int y, int z) {
        return extents.x() >= 1 && extents.x() <= x && extents.y() >= 1 && extents.y() <= y && extents.z() >= 1
                && extents.z() <= z;
    }

    private static void refuseIf(boolean refused, Reason reason, String what) {
        if (refused) {
            throw new LaunchRefusedException(reason, what);
        }
    }
}
