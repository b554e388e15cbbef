package io.tessera.software.execution;

import io.tessera.software.memory.MemoryFault;

/**
 * One block while it runs. Accessed only by its host thread, except shared memory, which blocks of the same cluster and asynchronous observers may read. Fields
 * are public because compiled kernels read them.
 */
public final class BlockState {
    /** Named barriers of a block. */
    public static final int BARRIERS = 16;

    /** The grid. */
    public final GridState grid;
    /** The cluster; a cluster of one where the launch has none. */
    public ClusterState cluster;
    /** Place in the grid. */
    public int ctaidX;
    /** Place in the grid. */
    public int ctaidY;
    /** Place in the grid. */
    public int ctaidZ;
    /** Rank in the cluster. */
    public int rank;
    /** Number of the worker that runs it. */
    public int worker;
    /** Number of the thread that runs, or ran last. */
    public int running;
    /** Threads of a block. */
    public final int threadCount;
    /** Real address of shared memory, aligned to 1024. */
    public final long sharedBase;
    /** Size of shared memory: static and dynamic. */
    public final int sharedBytes;
    /** Whether all threads have exited: then its shared memory may not be accessed any more. */
    boolean ended;
    final Barrier[] barriers = new Barrier[BARRIERS];

    BlockState(GridState grid, long sharedBase, int sharedBytes) {
        this.grid = grid;
        this.threadCount = (int) grid.block.count();
        this.sharedBase = sharedBase;
        this.sharedBytes = sharedBytes;
        for (int i = 0; i < BARRIERS; i++) {
            barriers[i] = new Barrier(threadCount);
        }
    }

    /**
     * Real address of this block's shared memory.
     *
     * @throws MemoryFault if the access is misaligned or outside
     */
    public long shared(long offset, int bytes) {
        if ((offset & bytes - 1) != 0) {
            throw new MemoryFault(true, offset, "access to shared memory");
        }
        if (offset < 0 || offset > sharedBytes - bytes) {
            throw new MemoryFault(false, offset, "access to shared memory (the block has " + sharedBytes + " bytes)");
        }
        return sharedBase + offset;
    }

    /**
     * Real address of shared memory of any block of the cluster.
     *
     * @param address offset, with the owner's rank plus one from bit 24 up, or zero there for this block
     * @throws MemoryFault if the access is misaligned or outside, or the block has ended, as on a GPU
     */
    public long sharedCluster(long address, int bytes) {
        BlockState owner = owner(address);
        if (owner.ended) {
            throw new MemoryFault(false, address, "access to shared memory of block " + owner.rank + " of the cluster, which has ended");
        }
        return owner.shared(address & 0xFFFFFF, bytes);
    }

    private BlockState owner(long address) {
        int owner = (int) (address >>> 24) - 1;
        if (owner >= cluster.blocks.length) {
            throw new MemoryFault(false, address, "access to shared memory of block " + owner + " of the cluster");
        }
        return owner < 0 ? this : cluster.blocks[owner];
    }

    /**
     * Address in the cluster's shared window of what has this offset in the block of that rank. A conversion is no access:
     * a rank that there is not gives an address that leads nowhere.
     */
    public long mapShared(long address, int owner) {
        return (owner + 1L & 0xFF) << 24 | address & 0xFFFFFF;
    }

    /** Generic address of what has the offset of a generic shared address in the block of that rank; 0 if there is none. */
    public long mapGeneric(long address, int owner) {
        BlockState from = ownerOfGeneric(address);
        if (from == null || owner < 0 || owner >= cluster.blocks.length) {
            return 0;
        }
        return cluster.blocks[owner].sharedBase + (address - from.sharedBase);
    }

    /** Rank of the block that owns an address in the cluster's shared window; 0 where none does, as asking is no access. */
    public int rankOfShared(long address) {
        return (address >>> 24) - 1 < cluster.blocks.length ? owner(address).rank : 0;
    }

    /** Generic address of an address in the cluster's shared window; a conversion is no access, so any address has one. */
    public long genericOfShared(long address) {
        long owner = (address >>> 24) - 1;
        return owner < 0 || owner >= cluster.blocks.length ? sharedBase + address
                : cluster.blocks[(int) owner].sharedBase + (address & 0xFFFFFF);
    }

    /** Address in the cluster's shared window of a generic one. */
    public long sharedOfGeneric(long address) {
        BlockState owner = ownerOfGeneric(address);
        return owner == null || owner == this ? address - sharedBase
                : mapShared(address - owner.sharedBase, owner.rank);
    }

    /** Rank of the block that owns a generic shared address. */
    public int rankOfGeneric(long address) {
        BlockState owner = ownerOfGeneric(address);
        return owner == null ? 0 : owner.rank;
    }

    private BlockState ownerOfGeneric(long address) {
        for (BlockState candidate : cluster.blocks) {
            if (address >= candidate.sharedBase && address < candidate.sharedBase + candidate.sharedBytes) {
                return candidate;
            }
        }
        return null;
    }

    /** Blocks that run together on one host thread and may access each other's shared memory. */
    public static final class ClusterState {
        final BlockState[] blocks;
        /** Threads that have not exited, over all blocks. */
        int live;
        /** Threads that have arrived in the present phase of the cluster's barrier. */
        int arrived;
        /** Completed phases. */
        int phase;

        ClusterState(int blocks) {
            this.blocks = new BlockState[blocks];
        }

        /** Blocks of the cluster. */
        public int size() {
            return blocks.length;
        }

        void completeIfAll() {
            if (arrived >= live && arrived > 0) {
                arrived = 0;
                phase++;
            }
        }
    }
}
