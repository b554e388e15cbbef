package io.tessera.protocol.segment;

import static io.tessera.protocol.segment.SegmentLayout.RESIDENCY;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * View of a client's memory on one device: the manager's targets and the client's account (SPEC.md, section 9).
 *
 * <p>Owns nothing. Each field has one writer. Targets and the memory held against them are read and written sequentially consistent, because the
 * budget rule depends on it: either the manager sees what the client took, or the client sees that its target was lowered. Everything else is read
 * whole but unordered. What the client writes is only its claim. All sizes are bytes.
 *
 * @param block the 512 bytes of the slot
 */
public record ResidencyBlock(MemorySegment block) {
    /** {@code flags}: evicted by hand or for idleness; comes back with its first call. */
    public static final int FLAG_PARKED = 1;
    /** {@code flags}: the driver has taken the whole process off the device; no driver call returns until it is back. */
    public static final int FLAG_CHECKPOINTED = 2;
    /** {@code flags}: the memory that the client needs is not available, so its calls at the gate fail for lack of memory. */
    public static final int FLAG_SHORT = 4;

    /** {@code plan_choice}: the plan was left to the library; swap, unless one of the following says otherwise. */
    public static final int CHOICE_AUTO = 1;
    /** {@code plan_choice}: the device maps no memory, so none is swapped. */
    public static final int CHOICE_UNMAPPED = 2;
    /** {@code plan_choice}: the device does not page managed memory either. */
    public static final int CHOICE_UNPAGED = 4;
    /** {@code plan_choice}: the program exports memory that the plan cannot export, so its later allocations are the driver's. */
    public static final int CHOICE_EXPORTED = 8;
    /**
     * {@code plan_choice}: the program uses several devices, or sees some that cannot reach each other's memory: its later allocations are the
     * driver's.
     */
    public static final int CHOICE_DEVICES = 16;

    private static final long ACTIVE = offset(RESIDENCY, "active");
    private static final long RESIDENT_TARGET = offset(RESIDENCY, "resident_target");
    private static final long GUARANTEE_BYTES = offset(RESIDENCY, "guarantee_bytes");
    private static final long PINNED_TARGET = offset(RESIDENCY, "pinned_target");
    private static final long PAGEABLE_TARGET = offset(RESIDENCY, "pageable_target");
    private static final long CAPACITY_BYTES = offset(RESIDENCY, "capacity_bytes");
    private static final long FLAGS = offset(RESIDENCY, "flags");
    private static final long RESIDENT_LIMIT = offset(RESIDENCY, "resident_limit");
    private static final long RESIDENT_BYTES = offset(RESIDENCY, "resident_bytes");
    private static final long NEEDED_BYTES = offset(RESIDENCY, "needed_bytes");
    private static final long SWAPPABLE_BYTES = offset(RESIDENCY, "swappable_bytes");
    private static final long FIXED_BYTES = offset(RESIDENCY, "fixed_bytes");
    private static final long CACHED_BYTES = offset(RESIDENCY, "cached_bytes");
    private static final long PINNED_HELD = offset(RESIDENCY, "pinned_held");
    private static final long PAGEABLE_HELD = offset(RESIDENCY, "pageable_held");
    private static final long FILE_HELD = offset(RESIDENCY, "file_held");
    private static final long PINNED_WANTED = offset(RESIDENCY, "pinned_wanted");
    private static final long PAGEABLE_WANTED = offset(RESIDENCY, "pageable_wanted");
    private static final long RESIDENT_WANTED = offset(RESIDENCY, "resident_wanted");
    private static final long STATE = offset(RESIDENCY, "state");
    private static final long SWAPPED_BYTES = offset(RESIDENCY, "swapped_bytes");
    private static final long GUARANTEE_WANTED = offset(RESIDENCY, "guarantee_wanted");
    private static final long FILE_LIMIT = offset(RESIDENCY, "file_limit");
    private static final long PLAN_CHOICE = offset(RESIDENCY, "plan_choice");
    private static final long MOVED_IN_BYTES = offset(RESIDENCY, "moved_in_bytes");
    private static final long MOVED_OUT_BYTES = offset(RESIDENCY, "moved_out_bytes");
    private static final long MOVE_IN_NS = offset(RESIDENCY, "move_in_ns");
    private static final long MOVE_OUT_NS = offset(RESIDENCY, "move_out_ns");
    private static final long MOVES_IN = offset(RESIDENCY, "moves_in");
    private static final long MOVES_OUT = offset(RESIDENCY, "moves_out");
    private static final long MOVE_FAILURES = offset(RESIDENCY, "move_failures");
    private static final long DROPPED_BYTES = offset(RESIDENCY, "dropped_bytes");
    private static final long DRIVER_FREE = offset(RESIDENCY, "driver_free");
    private static final long DRIVER_FREE_NS = offset(RESIDENCY, "driver_free_ns");
    private static final long REFUSALS = offset(RESIDENCY, "refusals");
    private static final long REFUSED_FREE = offset(RESIDENCY, "refused_free");
    private static final long SETTLED_CHUNKS = offset(RESIDENCY, "settled_chunks");
    private static final long CLAIMED_BYTES = offset(RESIDENCY, "claimed_bytes");
    private static final long ZERO_BYTES = offset(RESIDENCY, "zero_bytes");
    private static final long CLEAN_BYTES = offset(RESIDENCY, "clean_bytes");
    private static final long SPARED_BYTES = offset(RESIDENCY, "spared_bytes");
    private static final long CLEARED_BYTES = offset(RESIDENCY, "cleared_bytes");

    /**
     * Returns the block of a slot in a mapped segment.
     *
     * @throws IndexOutOfBoundsException if there is no such slot
     */
    public static ResidencyBlock of(MemorySegment segment, int slot) {
        Objects.checkIndex(slot, SegmentLayout.MAX_DEVICES);
        return new ResidencyBlock(
                segment.asSlice(SegmentLayout.RESIDENCY_OFFSET + slot * RESIDENCY.byteSize(), RESIDENCY.byteSize()));
    }

    // ---- targets: manager

    /** Returns whether a manager plans residency on the device. */
    public boolean active() {
        return WireTypes.getAcquire(block, ACTIVE) != 0;
    }

    /** Sets whether the manager plans residency, after the targets were written. */
    public void active(boolean plans) {
        WireTypes.setRelease(block, ACTIVE, plans ? 1 : 0);
    }

    /** Returns how much of its swappable memory the client may hold resident. */
    public long residentTarget() {
        return WireTypes.getVolatile(block, RESIDENT_TARGET);
    }

    /** Sets how much the client may hold resident; read {@link #residentBytes} afterwards. */
    public void residentTarget(long bytes) {
        WireTypes.setVolatile(block, RESIDENT_TARGET, bytes);
    }

    /** Returns the memory that is never taken from the client. */
    public long guaranteeBytes() {
        return WireTypes.getOpaque(block, GUARANTEE_BYTES);
    }

    /** Sets the memory that is never taken from the client. */
    public void guaranteeBytes(long bytes) {
        WireTypes.setOpaque(block, GUARANTEE_BYTES, bytes);
    }

    /** Returns the pinned host memory that the client may hold. */
    public long pinnedTarget() {
        return WireTypes.getVolatile(block, PINNED_TARGET);
    }

    /** Sets the pinned host memory that the client may hold; read {@link #pinnedHeld} afterwards. */
    public void pinnedTarget(long bytes) {
        WireTypes.setVolatile(block, PINNED_TARGET, bytes);
    }

    /** Returns the pageable host memory that the client may hold. */
    public long pageableTarget() {
        return WireTypes.getVolatile(block, PAGEABLE_TARGET);
    }

    /** Sets the pageable host memory that the client may hold; read {@link #pageableHeld} afterwards. */
    public void pageableTarget(long bytes) {
        WireTypes.setVolatile(block, PAGEABLE_TARGET, bytes);
    }

    /** Returns the size of the device as programs see it. */
    public long capacityBytes() {
        return WireTypes.getOpaque(block, CAPACITY_BYTES);
    }

    /** Sets the size of the device as programs see it. */
    public void capacityBytes(long bytes) {
        WireTypes.setOpaque(block, CAPACITY_BYTES, bytes);
    }

    /** Returns the maximum that {@link #residentTarget} can reach; 0: not known. */
    public long residentLimit() {
        return WireTypes.getOpaque(block, RESIDENT_LIMIT);
    }

    /** Sets the maximum that the target can reach. */
    public void residentLimit(long bytes) {
        WireTypes.setOpaque(block, RESIDENT_LIMIT, bytes);
    }

    /** Returns the flags {@code FLAG_*}. */
    public long flags() {
        return WireTypes.getAcquire(block, FLAGS);
    }

    /** Sets {@code FLAG_*}. */
    public void flags(long flags) {
        WireTypes.setRelease(block, FLAGS, flags);
    }

    // ---- account: client

    /** Returns the state of its memory; steady if the number has no meaning. */
    public ResidencyState state() {
        return ResidencyState.ofCode(WireTypes.getAcquire(block, STATE));
    }

    /** Sets the state of its memory, as the client does. */
    public void state(ResidencyState state) {
        WireTypes.setRelease(block, STATE, state.code());
    }

    /** Returns the device memory that the client holds for swappable memory, copies in flight included. */
    public long residentBytes() {
        return WireTypes.getVolatile(block, RESIDENT_BYTES);
    }

    /** Sets {@link #residentBytes()}, as the client does. */
    public void residentBytes(long bytes) {
        WireTypes.setVolatile(block, RESIDENT_BYTES, bytes);
    }

    /** Returns the memory that has to be resident before its gate opens. */
    public long neededBytes() {
        return WireTypes.getOpaque(block, NEEDED_BYTES);
    }

    /** Sets {@link #neededBytes()}, as the client does. */
    public void neededBytes(long bytes) {
        WireTypes.setOpaque(block, NEEDED_BYTES, bytes);
    }

    /** Returns the live memory that can be moved. */
    public long swappableBytes() {
        return WireTypes.getOpaque(block, SWAPPABLE_BYTES);
    }

    /** Sets {@link #swappableBytes()}, as the client does. */
    public void swappableBytes(long bytes) {
        WireTypes.setOpaque(block, SWAPPABLE_BYTES, bytes);
    }

    /** Returns the memory that is always resident: exported, imported, arrays, the driver's own. */
    public long fixedBytes() {
        return WireTypes.getOpaque(block, FIXED_BYTES);
    }

    /** Sets {@link #fixedBytes()}, as the client does. */
    public void fixedBytes(long bytes) {
        WireTypes.setOpaque(block, FIXED_BYTES, bytes);
    }

    /** Returns the resident memory without contents, which can be dropped at once. */
    public long cachedBytes() {
        return WireTypes.getOpaque(block, CACHED_BYTES);
    }

    /** Sets {@link #cachedBytes()}, as the client does. */
    public void cachedBytes(long bytes) {
        WireTypes.setOpaque(block, CACHED_BYTES, bytes);
    }

    /** Returns the pinned host memory that it holds. */
    public long pinnedHeld() {
        return WireTypes.getVolatile(block, PINNED_HELD);
    }

    /** Sets {@link #pinnedHeld()}, as the client does. */
    public void pinnedHeld(long bytes) {
        WireTypes.setVolatile(block, PINNED_HELD, bytes);
    }

    /** Returns the pageable host memory that it holds. */
    public long pageableHeld() {
        return WireTypes.getVolatile(block, PAGEABLE_HELD);
    }

    /** Sets {@link #pageableHeld()}, as the client does. */
    public void pageableHeld(long bytes) {
        WireTypes.setVolatile(block, PAGEABLE_HELD, bytes);
    }

    /** Returns the bytes of its swap file. */
    public long fileHeld() {
        return WireTypes.getOpaque(block, FILE_HELD);
    }

    /** Sets {@link #fileHeld()}, as the client does. */
    public void fileHeld(long bytes) {
        WireTypes.setOpaque(block, FILE_HELD, bytes);
    }

    /** Returns the pinned host memory that it would like to hold. */
    public long pinnedWanted() {
        return WireTypes.getOpaque(block, PINNED_WANTED);
    }

    /** Sets {@link #pinnedWanted()}, as the client does. */
    public void pinnedWanted(long bytes) {
        WireTypes.setOpaque(block, PINNED_WANTED, bytes);
    }

    /** Returns the pageable host memory that it would like to hold. */
    public long pageableWanted() {
        return WireTypes.getOpaque(block, PAGEABLE_WANTED);
    }

    /** Sets {@link #pageableWanted()}, as the client does. */
    public void pageableWanted(long bytes) {
        WireTypes.setOpaque(block, PAGEABLE_WANTED, bytes);
    }

    /** Returns the resident memory that a waiting allocation needs; above the target while one waits. */
    public long residentWanted() {
        return WireTypes.getOpaque(block, RESIDENT_WANTED);
    }

    /** Sets {@link #residentWanted()}, as the client does. */
    public void residentWanted(long bytes) {
        WireTypes.setOpaque(block, RESIDENT_WANTED, bytes);
    }

    /** Returns the contents that are off the device. */
    public long swappedBytes() {
        return WireTypes.getOpaque(block, SWAPPED_BYTES);
    }

    /** Sets {@link #swappedBytes()}, as the client does. */
    public void swappedBytes(long bytes) {
        WireTypes.setOpaque(block, SWAPPED_BYTES, bytes);
    }

    /** Returns the memory that the tenant asked never to lose. */
    public long guaranteeWanted() {
        return WireTypes.getOpaque(block, GUARANTEE_WANTED);
    }

    /** Sets {@link #guaranteeWanted()}, as the client does. */
    public void guaranteeWanted(long bytes) {
        WireTypes.setOpaque(block, GUARANTEE_WANTED, bytes);
    }

    /** Returns the maximum size of its swap file. */
    public long fileLimit() {
        return WireTypes.getOpaque(block, FILE_LIMIT);
    }

    /** Sets {@link #fileLimit()}, as the client does. */
    public void fileLimit(long bytes) {
        WireTypes.setOpaque(block, FILE_LIMIT, bytes);
    }

    /** Returns the result of plan auto and its reason: {@link #CHOICE_AUTO} and others. */
    public long planChoice() {
        return WireTypes.getOpaque(block, PLAN_CHOICE);
    }

    /** Sets {@link #planChoice()}, as the client does. */
    public void planChoice(long facts) {
        WireTypes.setOpaque(block, PLAN_CHOICE, facts);
    }

    /** Returns the bytes copied to the device so far. */
    public long movedInBytes() {
        return WireTypes.getOpaque(block, MOVED_IN_BYTES);
    }

    /** Returns the bytes copied off the device so far. */
    public long movedOutBytes() {
        return WireTypes.getOpaque(block, MOVED_OUT_BYTES);
    }

    /** Returns the nanoseconds in which memory was moving in. */
    public long moveInNs() {
        return WireTypes.getOpaque(block, MOVE_IN_NS);
    }

    /** Returns the nanoseconds in which memory was moving out. */
    public long moveOutNs() {
        return WireTypes.getOpaque(block, MOVE_OUT_NS);
    }

    /** Returns how often memory was moved in. */
    public long movesIn() {
        return WireTypes.getOpaque(block, MOVES_IN);
    }

    /** Returns how often memory was moved out. */
    public long movesOut() {
        return WireTypes.getOpaque(block, MOVES_OUT);
    }

    /** Returns the number of chunks whose copy failed. */
    public long moveFailures() {
        return WireTypes.getOpaque(block, MOVE_FAILURES);
    }

    /** Returns the bytes released without a copy. */
    public long droppedBytes() {
        return WireTypes.getOpaque(block, DROPPED_BYTES);
    }

    // ---- what the device really has: client

    /** Returns what the driver reported as free at {@link #driverFreeNs()}; valid only if that is the same before and after. */
    public long driverFree() {
        return WireTypes.getAcquire(block, DRIVER_FREE);
    }

    /** Returns when the driver last reported what is free; 0: not yet, or being written. */
    public long driverFreeNs() {
        return WireTypes.getAcquire(block, DRIVER_FREE_NS);
    }

    /** Sets what the driver reports as free, as the client does. */
    public void driverFree(long bytes, long nowNs) {
        WireTypes.setVolatile(block, DRIVER_FREE_NS, 0);
        WireTypes.setVolatile(block, DRIVER_FREE, bytes);
        WireTypes.setVolatile(block, DRIVER_FREE_NS, nowNs);
    }

    /** Returns how often the driver had no memory for a chunk. */
    public long refusals() {
        return WireTypes.getVolatile(block, REFUSALS);
    }

    /** Returns what the driver reported as free just before the last refusal. */
    public long refusedFree() {
        return WireTypes.getAcquire(block, REFUSED_FREE);
    }

    /** Counts a refusal, as the client does. */
    public void refused(long freeBytes) {
        WireTypes.setVolatile(block, REFUSED_FREE, freeBytes);
        WireTypes.setVolatile(block, REFUSALS, refusals() + 1);
    }

    /** Returns the number of chunks that came in, left or were released so far. */
    public long settledChunks() {
        return WireTypes.getVolatile(block, SETTLED_CHUNKS);
    }

    /** Sets {@link #settledChunks()}, as the client does. */
    public void settledChunks(long chunks) {
        WireTypes.setVolatile(block, SETTLED_CHUNKS, chunks);
    }

    /** Returns the memory that cannot move and is needed beyond {@link #fixedBytes()}, but is not available while others fill the device. */
    public long claimedBytes() {
        return WireTypes.getOpaque(block, CLAIMED_BYTES);
    }

    /** Sets {@link #claimedBytes()}, as the client does. */
    public void claimedBytes(long bytes) {
        WireTypes.setOpaque(block, CLAIMED_BYTES, bytes);
    }

    /** Returns the part of {@link #neededBytes()} that was all zero when last checked, so that it need not be copied. */
    public long zeroBytes() {
        return WireTypes.getOpaque(block, ZERO_BYTES);
    }

    /** Sets {@link #zeroBytes()}, as the client does. */
    public void zeroBytes(long bytes) {
        WireTypes.setOpaque(block, ZERO_BYTES, bytes);
    }

    /** Returns the contents on the device of which the host had a copy when they were last checked. */
    public long cleanBytes() {
        return WireTypes.getOpaque(block, CLEAN_BYTES);
    }

    /** Sets {@link #cleanBytes()}, as the client does. */
    public void cleanBytes(long bytes) {
        WireTypes.setOpaque(block, CLEAN_BYTES, bytes);
    }

    /** Returns the bytes that left the device without a copy so far, because they were zero or unchanged. */
    public long sparedBytes() {
        return WireTypes.getOpaque(block, SPARED_BYTES);
    }

    /** Sets {@link #sparedBytes()}, as the client does. */
    public void sparedBytes(long bytes) {
        WireTypes.setOpaque(block, SPARED_BYTES, bytes);
    }

    /** Returns the bytes that came to the device without a copy so far, because they were zero. */
    public long clearedBytes() {
        return WireTypes.getOpaque(block, CLEARED_BYTES);
    }

    /** Sets {@link #clearedBytes()}, as the client does. */
    public void clearedBytes(long bytes) {
        WireTypes.setOpaque(block, CLEARED_BYTES, bytes);
    }
}
