package io.tessera.software.execution;

import io.tessera.software.launch.Dim3;
import io.tessera.software.program.SpecialRegister;

/** Values of special registers. Stateless. */
public final class SpecialRegisterValues {
    private SpecialRegisterValues() {
    }

    /**
     * Reads one; 32-bit values are zero-extended.
     *
     * @param dimension 0, 1, 2 for x, y, z
     */
    public static long read(ThreadState thread, SpecialRegister register, int dimension) {
        BlockState block = thread.block;
        GridState grid = block.grid;
        long lane = thread.lane;
        return switch (register) {
            case TID -> pick(dimension, thread.tidX, thread.tidY, thread.tidZ);
            case NTID -> pick(dimension, grid.block);
            case CTAID -> pick(dimension, block.ctaidX, block.ctaidY, block.ctaidZ);
            case NCTAID -> pick(dimension, grid.grid);
            case LANEID -> lane;
            case WARPID -> thread.warp;
            case NWARPID -> grid.limits.residentThreads() / 32;
            case SMID -> block.worker % grid.limits.multiprocessors();
            case NSMID -> grid.limits.multiprocessors();
            case GRIDID -> grid.gridId;
            case LANEMASK_EQ -> 1L << lane;
            case LANEMASK_LE -> (2L << lane) - 1;
            case LANEMASK_LT -> (1L << lane) - 1;
            case LANEMASK_GE -> 0xFFFFFFFFL << lane & 0xFFFFFFFFL;
            case LANEMASK_GT -> 0xFFFFFFFEL << lane & 0xFFFFFFFFL;
            case CLOCK, GLOBALTIMER_LO -> grid.clock.nowNs() & 0xFFFFFFFFL;
            case CLOCK_HI, GLOBALTIMER_HI -> grid.clock.nowNs() >>> 32;
            case CLOCK64, GLOBALTIMER -> grid.clock.nowNs();
            case DYNAMIC_SMEM_SIZE -> grid.dynamicSharedBytes;
            case TOTAL_SMEM_SIZE, AGGR_SMEM_SIZE -> grid.sharedBytes();
            // The whole window of a block is its own: nothing of it is reserved for the system.
            case RESERVED_SMEM_OFFSET_BEGIN, RESERVED_SMEM_OFFSET_END, RESERVED_SMEM_OFFSET_CAP, CURRENT_GRAPH_EXEC ->
                0;
            case ENVREG1 -> grid.workspace >>> 32;
            case ENVREG2 -> grid.workspace & 0xFFFFFFFFL;
            case WARP_SZ -> 32;
            default -> cluster(block, register, dimension);
        };
    }

    private static long cluster(BlockState block, SpecialRegister register, int dimension) {
        Dim3 cluster = block.grid.cluster;
        Dim3 grid = block.grid.grid;
        return switch (register) {
            case CLUSTERID -> pick(dimension, block.ctaidX / cluster.x(), block.ctaidY / cluster.y(),
                    block.ctaidZ / cluster.z());
            case NCLUSTERID -> pick(dimension, grid.x() / cluster.x(), grid.y() / cluster.y(),
                    grid.z() / cluster.z());
            case CLUSTER_CTAID -> pick(dimension, cluster.at(block.rank));
            case CLUSTER_NCTAID -> pick(dimension, cluster);
            case CLUSTER_CTARANK -> block.rank;
            case CLUSTER_NCTARANK -> cluster.count();
            case IS_EXPLICIT_CLUSTER -> block.grid.explicitCluster ? 1 : 0;
            default -> throw new IllegalStateException("no value for " + register);
        };
    }

    private static long pick(int dimension, Dim3 extents) {
        return pick(dimension, extents.x(), extents.y(), extents.z());
    }

    private static long pick(int dimension, int x, int y, int z) {
        return Integer.toUnsignedLong(dimension == 0 ? x : dimension == 1 ? y : z);
    }
}
