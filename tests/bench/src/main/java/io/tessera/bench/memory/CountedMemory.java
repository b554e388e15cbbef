package io.tessera.bench.memory;

import io.tessera.guardian.heap.CommitPort;

/** Simulated memory: counts the changes for which a tenant's kernels would have to be stopped. Not thread-safe. */
final class CountedMemory implements CommitPort {
    private long changes;

    /** Returns the number of changes so far. */
    long changes() {
        return changes;
    }

    @Override
    public boolean beginChange() {
        changes++;
        return true;
    }

    @Override
    public boolean commit(long offset, long bytes) {
        return true;
    }

    @Override
    public void decommit(long offset, long bytes) {
        // nothing is there
    }
}
