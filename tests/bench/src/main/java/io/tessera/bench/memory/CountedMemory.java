package io.tessera.bench.memory;

import io.tessera.guardian.heap.CommitPort;

/** Memory that is not there: counts the changes for which a tenant's kernels would come to rest. Not thread-safe. */
final class CountedMemory implements CommitPort {
    private long changes;

    /** So far. */
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
