package io.tessera.protocol.segment;

import static io.tessera.protocol.segment.SegmentLayout.SEGMENT;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * View of a segment's first page: the identity of the two sides and whether they live.
 *
 * <p>Owns nothing: the mapping belongs to its maker. Fields are written once by the manager before {@link #publishVersion}, except the
 * heartbeats and what the client shares, which each side writes for itself; those may be read by any thread.
 *
 * @param segment the whole mapped segment
 */
public record SegmentHeader(MemorySegment segment) {
    /** {@link #clientShares}: the process has taken memory, or another object, of other processes or libraries. */
    public static final int SHARES_TAKEN = 1;
    /** {@link #clientShares}: others may have its memory. */
    public static final int SHARES_GIVEN = 2;
    /** {@link #clientShares}: plan swap has taken physical memory of other clients; gone when all has moved out. */
    public static final int SHARES_PIECES = 4;
    /** {@link #clientShares}, in multiples: calls under way that may share memory. */
    public static final int SHARES_CALL = 256;

    private static final long MAGIC = offset(SEGMENT, "magic");
    private static final long VERSION = offset(SEGMENT, "version");
    private static final long DEVICE_SLOTS = offset(SEGMENT, "device_slots");
    private static final long SEGMENT_BYTES = offset(SEGMENT, "segment_bytes");
    private static final long CLIENT_ID = offset(SEGMENT, "client_id");
    private static final long CLIENT_PID = offset(SEGMENT, "client_pid");
    private static final long MANAGER_PID = offset(SEGMENT, "manager_pid");
    private static final long CLIENT_START_TICKS = offset(SEGMENT, "client_start_ticks");
    private static final long MANAGER_START_NS = offset(SEGMENT, "manager_start_ns");
    private static final long PLAN = offset(SEGMENT, "plan");
    private static final long THREAD_SLOTS = offset(SEGMENT, "thread_slots");
    private static final long MANAGER_HEARTBEAT_NS = offset(SEGMENT, "manager_heartbeat_ns");
    private static final long CLIENT_HEARTBEAT_NS = offset(SEGMENT, "client_heartbeat_ns");
    private static final long CLIENT_SHARES = offset(SEGMENT, "client_shares");
    private static final long TENANT = offset(SEGMENT, "tenant");
    private static final long COMMAND = offset(SEGMENT, "command");

    /**
     * The client that the segment is for, and the manager that made it.
     *
     * @param clientId         the manager's own number for the client
     * @param clientPid        as the manager sees it, from SO_PEERCRED
     * @param clientStartTicks field 22 of {@code /proc/PID/stat}; 0 if it could not be read
     * @param managerPid       the manager
     * @param managerStartNs   CLOCK_REALTIME nanoseconds
     * @param plan             the client's memory plan
     * @param tenant           label that shares and limits attach to
     * @param command          what runs, for people
     */
    public record Identity(long clientId, int clientPid, long clientStartTicks, int managerPid, long managerStartNs,
            MemoryPlan plan, String tenant, String command) {
    }

    /** Fills everything but the version of a zeroed segment. The manager calls this before the client sees it. */
    public void initialise(Identity identity) {
        segment.set(WireTypes.U64, MAGIC, SegmentLayout.MAGIC);
        segment.set(WireTypes.U32, DEVICE_SLOTS, SegmentLayout.MAX_DEVICES);
        segment.set(WireTypes.U64, SEGMENT_BYTES, SegmentLayout.SEGMENT_BYTES);
        segment.set(WireTypes.U64, CLIENT_ID, identity.clientId());
        segment.set(WireTypes.U32, CLIENT_PID, identity.clientPid());
        segment.set(WireTypes.U32, MANAGER_PID, identity.managerPid());
        segment.set(WireTypes.U64, CLIENT_START_TICKS, identity.clientStartTicks());
        segment.set(WireTypes.U64, MANAGER_START_NS, identity.managerStartNs());
        segment.set(WireTypes.U32, PLAN, identity.plan().code());
        segment.set(WireTypes.U32, THREAD_SLOTS, SegmentLayout.MAX_THREADS);
        WireTypes.setText(segment, TENANT, SegmentLayout.LABEL_BYTES, identity.tenant());
        WireTypes.setText(segment, COMMAND, SegmentLayout.LABEL_BYTES, identity.command());
    }

    /** Makes the segment usable: the version goes in last, with release order. */
    public void publishVersion() {
        WireTypes.setIntRelease(segment, VERSION, SegmentLayout.VERSION);
    }

    /** {@link SegmentLayout#MAGIC} in a segment of ours. */
    public long magic() {
        return segment.get(WireTypes.U64, MAGIC);
    }

    /** Version, with acquire order: everything of the header may be read after it; 0 until then. */
    public int version() {
        return WireTypes.getIntAcquire(segment, VERSION);
    }

    /** Device slots as the manager wrote them. */
    public int deviceSlots() {
        return segment.get(WireTypes.U32, DEVICE_SLOTS);
    }

    /** Thread slots as the manager wrote them. */
    public int threadSlots() {
        return segment.get(WireTypes.U32, THREAD_SLOTS);
    }

    /** Size of the segment as the manager wrote it. */
    public long segmentBytes() {
        return segment.get(WireTypes.U64, SEGMENT_BYTES);
    }

    /** The manager's number for the client. */
    public long clientId() {
        return segment.get(WireTypes.U64, CLIENT_ID);
    }

    /** The client's pid as the manager sees it. */
    public int clientPid() {
        return segment.get(WireTypes.U32, CLIENT_PID);
    }

    /** Start of the client's process, field 22 of {@code /proc/PID/stat}. */
    public long clientStartTicks() {
        return segment.get(WireTypes.U64, CLIENT_START_TICKS);
    }

    /** The manager's pid. */
    public int managerPid() {
        return segment.get(WireTypes.U32, MANAGER_PID);
    }

    /** Start of the manager, CLOCK_REALTIME nanoseconds. */
    public long managerStartNs() {
        return segment.get(WireTypes.U64, MANAGER_START_NS);
    }

    /** {@code TESSERA_PLAN_*} as the manager wrote it; see {@link MemoryPlan#ofCode}. */
    public int planCode() {
        return segment.get(WireTypes.U32, PLAN);
    }

    /** Label that shares and limits attach to. */
    public String tenant() {
        return WireTypes.getText(segment, TENANT, SegmentLayout.LABEL_BYTES);
    }

    /** What runs, for people. */
    public String command() {
        return WireTypes.getText(segment, COMMAND, SegmentLayout.LABEL_BYTES);
    }

    /** CLOCK_MONOTONIC nanoseconds of the manager's last sign of life. */
    public long managerHeartbeatNs() {
        return WireTypes.getOpaque(segment, MANAGER_HEARTBEAT_NS);
    }

    /** The manager's sign of life. */
    public void managerHeartbeatNs(long nowNs) {
        WireTypes.setRelease(segment, MANAGER_HEARTBEAT_NS, nowNs);
    }

    /** CLOCK_MONOTONIC nanoseconds of the client's last sign of life; 0 before its first. */
    public long clientHeartbeatNs() {
        return WireTypes.getOpaque(segment, CLIENT_HEARTBEAT_NS);
    }

    /** The client's sign of life. */
    public void clientHeartbeatNs(long nowNs) {
        WireTypes.setRelease(segment, CLIENT_HEARTBEAT_NS, nowNs);
    }

    /** What the client shares with other processes, {@code SHARES_*}; 0: nothing. Read after all that was written before. */
    public long clientShares() {
        return WireTypes.getVolatile(segment, CLIENT_SHARES);
    }

    /** What the client shares. */
    public void clientShares(long facts) {
        WireTypes.setVolatile(segment, CLIENT_SHARES, facts);
    }

    /** The block of a device slot. */
    public DeviceBlock device(int slot) {
        return DeviceBlock.of(segment, slot);
    }
}
