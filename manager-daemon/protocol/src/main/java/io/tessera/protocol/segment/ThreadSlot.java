package io.tessera.protocol.segment;

import static io.tessera.protocol.segment.SegmentLayout.THREAD;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * View of one thread's slot. Written by that thread of the client alone (the last slot by several, atomically). A reader may see it one event late,
 * never torn. Counts are never cleared, so sums over all slots are sums over the life of the client.
 *
 * @param slot the 256 bytes of the slot
 */
public record ThreadSlot(MemorySegment slot) {
    private static final long TID = offset(THREAD, "tid");
    private static final long INSIDE = offset(THREAD, "inside");
    private static final long SYNCING = offset(THREAD, "syncing");
    private static final long SUBMITTED = offset(THREAD, "submitted");
    private static final long DEVICE_SUBMISSIONS = offset(THREAD, "device_submissions");

    /**
     * Returns the slot with an index in a mapped segment.
     *
     * @throws IndexOutOfBoundsException if there is no such slot
     */
    public static ThreadSlot of(MemorySegment segment, int index) {
        Objects.checkIndex(index, SegmentLayout.MAX_THREADS);
        return new ThreadSlot(
                segment.asSlice(SegmentLayout.THREADS_OFFSET + index * THREAD.byteSize(), THREAD.byteSize()));
    }

    /** Returns the submissions to one device slot, summed over all threads of a client, living and ended. */
    public static long deviceSubmissions(MemorySegment segment, int deviceSlot) {
        long within = DEVICE_SUBMISSIONS + 8L * Objects.checkIndex(deviceSlot, SegmentLayout.MAX_DEVICES);
        return sum(segment, within);
    }

    /** Returns the submissions of one kind, summed over all threads of a client, living and ended. */
    public static long submitted(MemorySegment segment, SubmissionKind kind) {
        return sum(segment, SUBMITTED + 8L * kind.index());
    }

    private static long sum(MemorySegment segment, long within) {
        long total = 0;
        for (int i = 0; i < SegmentLayout.MAX_THREADS; i++) {
            total += WireTypes.getOpaque(segment, SegmentLayout.THREADS_OFFSET + i * THREAD.byteSize() + within);
        }
        return total;
    }

    /** Returns the thread's id; 0: the slot is free. */
    public int tid() {
        return WireTypes.getIntOpaque(slot, TID);
    }

    /** Takes the slot for a thread, or gives it back with 0. */
    public void tid(int tid) {
        WireTypes.setIntOpaque(slot, TID, tid);
    }

    /** Returns the number of nested submissions that are inside the driver now. */
    public int inside() {
        return WireTypes.getIntOpaque(slot, INSIDE);
    }

    /** Returns whether the thread is inside a synchronisation. */
    public boolean syncing() {
        return WireTypes.getIntOpaque(slot, SYNCING) != 0;
    }

    /** Returns the submissions of one kind. */
    public long submitted(SubmissionKind kind) {
        return WireTypes.getOpaque(slot, SUBMITTED + 8L * kind.index());
    }

    /** Returns the submissions to one device slot. */
    public long deviceSubmissions(int deviceSlot) {
        return WireTypes.getOpaque(slot,
                DEVICE_SUBMISSIONS + 8L * Objects.checkIndex(deviceSlot, SegmentLayout.MAX_DEVICES));
    }

    /** Counts submissions of a kind to a device; only its own thread may call this. */
    public void add(SubmissionKind kind, int deviceSlot, long count) {
        long kindOffset = SUBMITTED + 8L * kind.index();
        long deviceOffset = DEVICE_SUBMISSIONS + 8L * Objects.checkIndex(deviceSlot, SegmentLayout.MAX_DEVICES);
        WireTypes.setOpaque(slot, kindOffset, WireTypes.getOpaque(slot, kindOffset) + count);
        WireTypes.setOpaque(slot, deviceOffset, WireTypes.getOpaque(slot, deviceOffset) + count);
    }
}
