package io.tessera.guardian.heap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.function.LongPredicate;

/** Memory of a heap that checks and counts the heap's requests, and fails on demand. */
final class CheckedMemory implements CommitPort {
    final BitSet committed = new BitSet();
    private final long granuleBytes;
    private final int granules;
    private boolean changing;

    /** By the bytes of a commit: whether it succeeds. */
    LongPredicate yields = bytes -> true;

    /** Whether memory can change at all. */
    boolean atRest = true;

    /** Whether memory can be taken away. */
    boolean stuck;
    int changes;
    int commits;

    CheckedMemory(HeapSettings settings) {
        granuleBytes = settings.granuleBytes();
        granules = (int) (settings.rangeBytes() / granuleBytes);
    }

    @Override
    public boolean beginChange() {
        assertTrue(!changing, "a change within a change");
        changing = atRest;
        changes++;
        return atRest;
    }

    @Override
    public void endChange() {
        assertTrue(changing, "a change ends that did not begin");
        changing = false;
    }

    private int granule(long bytes) {
        assertEquals(0, bytes % granuleBytes, "whole granules");
        return (int) (bytes / granuleBytes);
    }

    @Override
    public boolean commit(long offset, long bytes) {
        assertTrue(changing, "kernels may run");
        int from = granule(offset);
        int to = from + granule(bytes);
        assertTrue(from >= 0 && to <= granules && to > from, "within the range");
        assertTrue(committed.get(from, to).isEmpty(), "committed twice");
        commits++;
        if (!yields.test(bytes)) {
            return false;
        }
        committed.set(from, to);
        return true;
    }

    @Override
    public void decommit(long offset, long bytes) {
        assertTrue(changing, "kernels may run");
        int from = granule(offset);
        int to = from + granule(bytes);
        if (stuck) {
            throw new IllegalStateException("stuck");
        }
        assertTrue(to > from && committed.nextClearBit(from) >= to, "not committed");
        committed.clear(from, to);
    }

    long committedBytes() {
        return committed.cardinality() * granuleBytes;
    }

    /** Returns whether all of a range has memory. */
    boolean covers(long offset, long bytes) {
        return committed.nextClearBit((int) (offset / granuleBytes)) > (offset + bytes - 1) / granuleBytes;
    }

    /** Returns whether none of a range has memory. */
    boolean spares(long offset, long bytes) {
        int next = committed.nextSetBit((int) (offset / granuleBytes));
        return next < 0 || next > (offset + bytes - 1) / granuleBytes;
    }
}
