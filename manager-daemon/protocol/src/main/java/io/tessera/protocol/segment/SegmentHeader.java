package io.tessera.protocol.segment;

import static io.tessera.protocol.segment.SegmentLayout.SEGMENT;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * View of a segment's first page: identity and heartbeats of the two sides.
 *
 * <p>Owns nothing: the mapping belongs to its creator. The manager writes the fields once before {@link #publishVersion}. Exceptions are the
 * heartbeats and what the client shares, which each side writes for itself; any thread may read them.
 *
 * @param segment the whole mapped segment
 */
public record SegmentHeader(MemorySegment segment) {
    /** {@link #clientShares}: the process has imported memory, or another object, of other processes or libraries. */
    public static final int SHARES_TAKEN = 1;
    /** {@link #clientShares}: other processes may have access to its memory. */
    public static final int SHARES_GIVEN = 2;
    /** {@link #clientShares}: plan swap has taken physical memory of other clients; cleared when all has moved out. */
    public static final int SHARES_PIECES = 4;
    /** {@link #clientShares}, in multiples: calls in progress that may share memory. */
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
     * Identity of the client of a segment, and of the manager that created it.
     *
     * @param clientId         the manager's own number for the client
     * @param clientPid        the client's pid as the manager sees it, from SO_PEERCRED
     * @param clientStartTicks field 22 of {@code /proc/PID/stat}; 0 if it could not be read
     * @param managerPid       the manager's pid
     * @param managerStartNs   start of the manager, CLOCK_REALTIME nanoseconds
     * @param plan             the client's memory plan
     * @param tenant           label to which shares and limits apply
     * @param command          command line of the program, for people
     */
    public record Identity(long clientId, int clientPid, long clientStartTicks, int managerPid, long managerStartNs,
            MemoryPlan plan, String tenant, String command) {
    }

    /** Fills a zeroed segment except for its version. The manager calls this before the client sees it. */
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

    /** Makes the segment usable: the version is written last, with release order. */
    public void publishVersion() {
        WireTypes.setIntRelease(segment, VERSION, SegmentLayout.VERSION);
    }

    /** Returns the first word, which is {@link SegmentLayout#MAGIC} in a valid segment. */
    public long magic() {
        return segment.get(WireTypes.U64, MAGIC);
    }

    /** Returns the version, with acquire order: the whole header may be read after it; 0 until it is written. */
    public int version() {
        return WireTypes.getIntAcquire(segment, VERSION);
    }

    /** Returns the number of device slots as the manager wrote it. */
    public int deviceSlots() {
        return segment.get(WireTypes.U32, DEVICE_SLOTS);
    }

    /** Returns the number of thread slots as the manager wrote it. */
    public int threadSlots() {
        return segment.get(WireTypes.U32, THREAD_SLOTS);
    }

    /** Returns the size of the segment as the manager wrote it. */
    public long segmentBytes() {
        return segment.get(WireTypes.U64, SEGMENT_BYTES);
    }

    /** Returns the manager's number for the client. */
    public long clientId() {
        return segment.get(WireTypes.U64, CLIENT_ID);
    }

    /** Returns the client's pid as the manager sees it. */
    public int clientPid() {
        return segment.get(WireTypes.U32, CLIENT_PID);
    }

    /** Returns the start of the client's process, field 22 of {@code /proc/PID/stat}. */
    public long clientStartTicks() {
        return segment.get(WireTypes.U64, CLIENT_START_TICKS);
    }

    /** Returns the manager's pid. */
    public int managerPid() {
        return segment.get(WireTypes.U32, MANAGER_PID);
    }

    /** Returns the start of the manager, CLOCK_REALTIME nanoseconds. */
    public long managerStartNs() {
        return segment.get(WireTypes.U64, MANAGER_START_NS);
    }

    /** Returns {@code TESSERA_PLAN_*} as the manager wrote it; see {@link MemoryPlan#ofCode}. */
    public int planCode() {
        return segment.get(WireTypes.U32, PLAN);
    }

    /** Returns the label to which shares and limits apply. */
    public String tenant() {
        return WireTypes.getText(segment, TENANT, SegmentLayout.LABEL_BYTES);
    }

    /** Returns the command line of the program, for people. */
    public String command() {
        return WireTypes.getText(segment, COMMAND, SegmentLayout.LABEL_BYTES);
    }

    /** Returns the time of the manager's last heartbeat, CLOCK_MONOTONIC nanoseconds. */
    public long managerHeartbeatNs() {
        return WireTypes.getOpaque(segment, MANAGER_HEARTBEAT_NS);
    }

    /** Writes the manager's heartbeat. */
    public void managerHeartbeatNs(long nowNs) {
        WireTypes.setRelease(segment, MANAGER_HEARTBEAT_NS, nowNs);
    }

    /** Returns the time of the client's last heartbeat, CLOCK_MONOTONIC nanoseconds; 0 before its first. */
    public long clientHeartbeatNs() {
        return WireTypes.getOpaque(segment, CLIENT_HEARTBEAT_NS);
    }

    /** Writes the client's heartbeat. */
    public void clientHeartbeatNs(long nowNs) {
        WireTypes.setRelease(segment, CLIENT_HEARTBEAT_NS, nowNs);
    }

    /** Returns what the client shares with other processes, {@code SHARES_*}; 0: nothing. Ordered after everything that was written before. */
    public long clientShares() {
        return WireTypes.getVolatile(segment, CLIENT_SHARES);
    }

    /** Writes what the client shares. */
    public void clientShares(long facts) {
        WireTypes.setVolatile(segment, CLIENT_SHARES, facts);
    }

    /** Returns the block of a device slot. */
    public DeviceBlock device(int slot) {
        return DeviceBlock.of(segment, slot);
    }
}
