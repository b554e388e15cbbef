package io.tessera.software.execution;

/** Blocks that run together on one host thread and may access each other's shared memory. */
public final class ClusterState {
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
