package io.tessera.protocol.segment;

import static io.tessera.protocol.segment.SegmentLayout.DEVICE;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * View of one device slot of a segment: identity, the manager's orders, the client's gate and answers.
 *
 * <p>Owns nothing. Each field has one writer, the manager or the client, as the header file documents; any thread of any process may read. The turn
 * and ack words are read with acquire and written with release order, so the fields beside them are at least as new as they are. Everything else is
 * read whole but unordered. The client's words are only its claims: check them before any decision.
 *
 * @param block the 512 bytes of the slot
 */
public record DeviceBlock(MemorySegment block) {
    /** {@code flags}: another client waits for this device; give the turn back when idle. */
    public static final int FLAG_CONTENDED = 1;
    /** {@code flags}: sample whether the device is busy with this client's work. */
    public static final int FLAG_SAMPLE = 2;
    /** {@code granted_bytes} of a client without a limit: the largest unsigned 64-bit number. */
    public static final long NO_LIMIT_LEASE = -1L;

    private static final long UUID = offset(DEVICE, "uuid");
    private static final long TOTAL_BYTES = offset(DEVICE, "total_bytes");
    private static final long ORDINAL = offset(DEVICE, "ordinal");
    private static final long REGISTERED = offset(DEVICE, "registered");
    private static final long NAME = offset(DEVICE, "name");
    private static final long TURN = offset(DEVICE, "turn");
    private static final long QUANTUM_NS = offset(DEVICE, "quantum_ns");
    private static final long PACE_NS = offset(DEVICE, "pace_ns");
    private static final long IDLE_RELEASE_NS = offset(DEVICE, "idle_release_ns");
    private static final long FLAGS = offset(DEVICE, "flags");
    private static final long LIMIT_BYTES = offset(DEVICE, "limit_bytes");
    private static final long TENANT_ELSEWHERE_BYTES = offset(DEVICE, "tenant_elsewhere_bytes");
    private static final long GRANTED_BYTES = offset(DEVICE, "granted_bytes");
    private static final long GATE = offset(DEVICE, "gate");
    private static final long ACK = offset(DEVICE, "ack");
    private static final long WANT_SINCE_NS = offset(DEVICE, "want_since_ns");
    private static final long USED_BYTES = offset(DEVICE, "used_bytes");
    private static final long PEAK_BYTES = offset(DEVICE, "peak_bytes");
    private static final long MANAGED_BYTES = offset(DEVICE, "managed_bytes");
    private static final long TURNS = offset(DEVICE, "turns");
    private static final long DRAINS = offset(DEVICE, "drains");
    private static final long DRAIN_NS = offset(DEVICE, "drain_ns");
    private static final long DRAIN_MAX_NS = offset(DEVICE, "drain_max_ns");
    private static final long DRAIN_LAST_NS = offset(DEVICE, "drain_last_ns");
    private static final long HELD_NS = offset(DEVICE, "held_ns");
    private static final long WAIT_NS = offset(DEVICE, "wait_ns");
    private static final long BUSY_SAMPLES = offset(DEVICE, "busy_samples");
    private static final long SAMPLES = offset(DEVICE, "samples");
    private static final long CONTEXTS = offset(DEVICE, "contexts");
    private static final long CAPTURING = offset(DEVICE, "capturing");

    /**
     * Returns the block of a slot in a mapped segment.
     *
     * @throws IndexOutOfBoundsException if there is no such slot
     */
    public static DeviceBlock of(MemorySegment segment, int slot) {
        Objects.checkIndex(slot, SegmentLayout.MAX_DEVICES);
        return new DeviceBlock(
                segment.asSlice(SegmentLayout.DEVICES_OFFSET + slot * DEVICE.byteSize(), DEVICE.byteSize()));
    }

    // ---- identity: client, before DEVICE is sent; registered: manager

    /** Fills the identity of the slot, as a client does before it sends DEVICE. */
    public void identity(DeviceUuid uuid, long totalBytes, int ordinal, String name) {
        uuid.write(block, UUID);
        block.set(WireTypes.U64, TOTAL_BYTES, totalBytes);
        block.set(WireTypes.U32, ORDINAL, ordinal);
        WireTypes.setText(block, NAME, SegmentLayout.DEVICE_NAME_BYTES, name);
    }

    /** Returns the UUID of the device. */
    public DeviceUuid uuid() {
        return DeviceUuid.read(block, UUID);
    }

    /** Returns the memory of the device in bytes. */
    public long totalBytes() {
        return block.get(WireTypes.U64, TOTAL_BYTES);
    }

    /** Returns the CUDA ordinal in the client. */
    public int ordinal() {
        return block.get(WireTypes.U32, ORDINAL);
    }

    /** Returns the name of the device. */
    public String name() {
        return WireTypes.getText(block, NAME, SegmentLayout.DEVICE_NAME_BYTES);
    }

    /** Returns whether the manager has accepted the device. */
    public boolean registered() {
        return WireTypes.getIntAcquire(block, REGISTERED) != 0;
    }

    /** Sets whether the manager has accepted the device. */
    public void registered(boolean registered) {
        WireTypes.setIntRelease(block, REGISTERED, registered ? 1 : 0);
    }

    // ---- orders: manager

    /** Returns the turn word, see {@link TurnWord}. */
    public long turn() {
        return WireTypes.getAcquire(block, TURN);
    }

    /** Writes the turn word after its terms. */
    public void turn(long word) {
        WireTypes.setRelease(block, TURN, word);
    }

    /** Writes the terms of a turn: nanoseconds, nanoseconds, nanoseconds, {@code FLAG_*}. */
    public void terms(long quantumNs, long paceNs, long idleReleaseNs, long flags) {
        WireTypes.setOpaque(block, QUANTUM_NS, quantumNs);
        WireTypes.setOpaque(block, PACE_NS, paceNs);
        WireTypes.setOpaque(block, IDLE_RELEASE_NS, idleReleaseNs);
        WireTypes.setOpaque(block, FLAGS, flags);
    }

    /** Returns the length of a granted turn in nanoseconds, for information. */
    public long quantumNs() {
        return WireTypes.getOpaque(block, QUANTUM_NS);
    }

    /** Returns the bound on outstanding work as nanoseconds to drain; 0: none. */
    public long paceNs() {
        return WireTypes.getOpaque(block, PACE_NS);
    }

    /** Returns the nanoseconds without work after which a granted turn is given back; 0: never. */
    public long idleReleaseNs() {
        return WireTypes.getOpaque(block, IDLE_RELEASE_NS);
    }

    /** Returns the flags {@code FLAG_*}. */
    public long flags() {
        return WireTypes.getOpaque(block, FLAGS);
    }

    /** Returns the tenant's limit on this device in bytes; 0: none. */
    public long limitBytes() {
        return WireTypes.getOpaque(block, LIMIT_BYTES);
    }

    /** Sets the tenant's limit. */
    public void limitBytes(long bytes) {
        WireTypes.setOpaque(block, LIMIT_BYTES, bytes);
    }

    /** Returns the bytes that the tenant's other clients use on this device. */
    public long tenantElsewhereBytes() {
        return WireTypes.getOpaque(block, TENANT_ELSEWHERE_BYTES);
    }

    /** Sets the bytes that the tenant's other clients use. */
    public void tenantElsewhereBytes(long bytes) {
        WireTypes.setOpaque(block, TENANT_ELSEWHERE_BYTES, bytes);
    }

    // ---- answers: client

    /** Returns the bytes that the client may use without asking; {@link #NO_LIMIT_LEASE}: all. */
    public long grantedBytes() {
        return WireTypes.getOpaque(block, GRANTED_BYTES);
    }

    /** Sets the lease, as the client does on an answer or before it gives memory back. */
    public void grantedBytes(long bytes) {
        WireTypes.setOpaque(block, GRANTED_BYTES, bytes);
    }

    /** Returns whether submissions pass the gate. */
    public boolean gateOpen() {
        return WireTypes.getAcquire(block, GATE) != 0;
    }

    /** Returns the ack word, see {@link AckWord}. */
    public long ack() {
        return WireTypes.getAcquire(block, ACK);
    }

    /** Writes the ack word, as the client does, after the change that it acknowledges. */
    public void ack(long word) {
        WireTypes.setRelease(block, ACK, word);
    }

    /** Returns since when a thread waits at the gate, CLOCK_MONOTONIC nanoseconds; 0: none waits. */
    public long wantSinceNs() {
        return WireTypes.getAcquire(block, WANT_SINCE_NS);
    }

    /** Sets since when a thread waits, as the client does. */
    public void wantSinceNs(long sinceNs) {
        WireTypes.setRelease(block, WANT_SINCE_NS, sinceNs);
    }

    /** Returns the bytes of device memory that count against the limit. */
    public long usedBytes() {
        return WireTypes.getOpaque(block, USED_BYTES);
    }

    /** Sets the memory in use, as the client does; the peak follows. */
    public void usedBytes(long bytes) {
        WireTypes.setOpaque(block, USED_BYTES, bytes);
        if (Long.compareUnsigned(bytes, peakBytes()) > 0) {
            WireTypes.setOpaque(block, PEAK_BYTES, bytes);
        }
    }

    /** Returns the highest value of {@link #usedBytes}. */
    public long peakBytes() {
        return WireTypes.getOpaque(block, PEAK_BYTES);
    }

    /** Returns the part of {@link #usedBytes} that was converted to managed memory. */
    public long managedBytes() {
        return WireTypes.getOpaque(block, MANAGED_BYTES);
    }

    /** Sets {@link #managedBytes()}, as the client does. */
    public void managedBytes(long bytes) {
        WireTypes.setOpaque(block, MANAGED_BYTES, bytes);
    }

    /** Returns the number of turns taken. */
    public long turns() {
        return WireTypes.getOpaque(block, TURNS);
    }

    /** Returns how often the gate was closed after work. */
    public long drains() {
        return WireTypes.getOpaque(block, DRAINS);
    }

    /** Returns the sum of drains, from the closed gate to idle contexts, in nanoseconds. */
    public long drainNs() {
        return WireTypes.getOpaque(block, DRAIN_NS);
    }

    /** Returns the longest drain in nanoseconds. */
    public long drainMaxNs() {
        return WireTypes.getOpaque(block, DRAIN_MAX_NS);
    }

    /** Returns the last drain in nanoseconds. */
    public long drainLastNs() {
        return WireTypes.getOpaque(block, DRAIN_LAST_NS);
    }

    /** Returns the sum of turns, from the grant to the return, in nanoseconds. */
    public long heldNs() {
        return WireTypes.getOpaque(block, HELD_NS);
    }

    /** Returns the nanoseconds in which at least one thread waited at the gate. */
    public long waitNs() {
        return WireTypes.getOpaque(block, WAIT_NS);
    }

    /** Returns the number of samples that found the device busy with this client's work. */
    public long busySamples() {
        return WireTypes.getOpaque(block, BUSY_SAMPLES);
    }

    /** Returns the number of samples taken. */
    public long samples() {
        return WireTypes.getOpaque(block, SAMPLES);
    }

    /** Returns the number of this client's contexts on the device. */
    public long contexts() {
        return WireTypes.getOpaque(block, CONTEXTS);
    }

    /** Returns the number of open stream captures; a turn does not end while there is one. */
    public long capturing() {
        return WireTypes.getOpaque(block, CAPTURING);
    }
}
