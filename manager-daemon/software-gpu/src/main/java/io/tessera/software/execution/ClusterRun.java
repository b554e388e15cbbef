package io.tessera.software.execution;

import io.tessera.software.fault.KernelFault;
import io.tessera.software.launch.Dim3;
import io.tessera.software.memory.DeviceMemory;
import io.tessera.software.memory.RealMemory;
import java.util.concurrent.locks.LockSupport;

/** Runs the blocks of one cluster (or the one block of a launch without clusters) on the calling host thread. */
final class ClusterRun implements AutoCloseable {
    /** Interval at which a block that cannot continue reads the stop word. */
    private static final long LOOK_NS = 200_000;

    private final GridState grid;
    private final DeviceMemory memory;
    private final BlockRun[] blocks;
    private final long windows;

    ClusterRun(GridState grid, ThreadProgram program, DeviceMemory memory) {
        this.grid = grid;
        this.memory = memory;
        this.blocks = new BlockRun[(int) grid.cluster.count()];
        long shared = grid.sharedBytes() + 1023L & -1024;
        long local = grid.block.count() * grid.localBytes + 1023 & -1024;
        // One piece for all windows of the cluster: shared memory first, then local memory.
        long sharedTotal = shared * blocks.length;
        this.windows = allocate(sharedTotal, local * blocks.length);
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = new BlockRun(grid, program, windows + shared * i, windows + sharedTotal + local * i);
        }
    }

    private long allocate(long sharedTotal, long localTotal) {
        if (sharedTotal + localTotal == 0) {
            return 0;
        }
        long address = memory.allocateWindows(sharedTotal, localTotal);
        RealMemory.fill(address, sharedTotal, (byte) 0);
        return address;
    }

    /** Begins the cluster with this number. */
    void begin(long number, int worker) {
        Dim3 clusters = new Dim3(grid.grid.x() / grid.cluster.x(), grid.grid.y() / grid.cluster.y(),
                grid.grid.z() / grid.cluster.z());
        Dim3 place = clusters.at(number);
        BlockState.ClusterState cluster = new BlockState.ClusterState(blocks.length);
        cluster.live = blocks.length * (int) grid.block.count();
        for (int rank = 0; rank < blocks.length; rank++) {
            Dim3 inside = grid.cluster.at(rank);
            Dim3 ctaid = new Dim3(place.x() * grid.cluster.x() + inside.x(),
                    place.y() * grid.cluster.y() + inside.y(), place.z() * grid.cluster.z() + inside.z());
            blocks[rank].begin(ctaid, cluster, rank, worker);
        }
    }

    /**
     * Runs each block once through.
     *
     * @throws KernelFault if a thread faults, or if no thread can continue and there is no stop word
     */
    BlockRun.Progress pass() {
        BlockRun.Progress best = BlockRun.Progress.STUCK;
        boolean done = true;
        for (BlockRun block : blocks) {
            if (!block.isDone()) {
                BlockRun.Progress progress = block.pass();
                done &= progress == BlockRun.Progress.DONE;
                if (progress.ordinal() < best.ordinal()) {
                    best = progress;
                }
            }
        }
        if (done) {
            return BlockRun.Progress.DONE;
        }
        if (best == BlockRun.Progress.STUCK && !couldGoOn()) {
            return stuckForEver();
        }
        return best == BlockRun.Progress.DONE ? BlockRun.Progress.ADVANCED : best;
    }

    private BlockRun.Progress stuckForEver() {
        if (!grid.stop.exists()) {
            throw stuck().deadlock();
        }
        if (grid.stop.isSet()) {
            return BlockRun.Progress.DONE;
        }
        LockSupport.parkNanos(LOOK_NS); // other clusters of this worker are rare, and few
        return BlockRun.Progress.SPINNING;
    }

    /** The end of a pass may have completed a barrier (threads that left) after its waiters were looked at. */
    private boolean couldGoOn() {
        for (BlockRun block : blocks) {
            if (!block.isDone() && block.canRun()) {
                return true;
            }
        }
        return false;
    }

    private BlockRun stuck() {
        for (BlockRun block : blocks) {
            if (!block.isDone()) {
                return block;
            }
        }
        throw new IllegalStateException("no block is left");
    }

    @Override
    public void close() {
        if (windows != 0) {
            memory.free(windows);
        }
    }
}
