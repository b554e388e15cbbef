package io.tessera.protocol.relay;

import static io.tessera.protocol.relay.RelayLayout.SEGMENT;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * View of a mapped relay segment: its header and the words that executor and client tell each other by. Owns nothing. Each
 * word has one writer, as the header file says. What the client writes is its own claim: copy it, then check it.
 *
 * @param memory the whole segment
 */
public record RelaySegment(MemorySegment memory) {
    /** Bytes of a segment. */
    public static final long BYTES = SEGMENT.byteSize();
    /** Where the device's description begins. */
    public static final long DEVICE = offset(SEGMENT, "device");
    /** Where the printed text begins. */
    public static final long PRINT = offset(SEGMENT, "print");
    /** Where the words begin. */
    public static final long WORD = offset(SEGMENT, "word");
    /** Where the ring begins. */
    public static final long RING = offset(SEGMENT, "ring");
    /** Where the error of the context is. */
    public static final long CONTEXT_ERROR = offset(SEGMENT, "context_error");
    /** Where the reply slots begin. */
    public static final long REPLY = offset(SEGMENT, "reply");

    private static final long MAGIC = offset(SEGMENT, "magic");
    private static final long VERSION = offset(SEGMENT, "version");
    private static final long EXECUTOR_PID = offset(SEGMENT, "executor_pid");
    private static final long SEGMENT_BYTES = offset(SEGMENT, "segment_bytes");
    private static final long CLIENT_ID = offset(SEGMENT, "client_id");
    private static final long RING_BYTES = offset(SEGMENT, "ring_bytes");
    private static final long SLOTS = offset(SEGMENT, "slots");
    private static final long WORDS = offset(SEGMENT, "words");
    private static final long ENTRIES = offset(SEGMENT, "entries");
    private static final long EXECUTOR_HEARTBEAT_NS = offset(SEGMENT, "executor_heartbeat_ns");
    private static final long ENDED = offset(SEGMENT, "ended");
    private static final long CONSUMED = offset(SEGMENT, "consumed");
    private static final long PARKED = offset(SEGMENT, "parked");
    private static final long CALL_ERROR = offset(SEGMENT, "call_error");
    private static final long CLAIMED = offset(SEGMENT, "claimed");
    private static final long PRINTED = offset(SEGMENT, "printed");
    private static final long PRINT_TAKEN = offset(SEGMENT, "print_taken");
    private static final long NOTICE_SAID = offset(SEGMENT, "notice_bytes");
    private static final long TIME_SHARE = offset(SEGMENT, "time_share");
    private static final long NOTICE = offset(SEGMENT, "notice");
    private static final long CLIENT_HEARTBEAT_NS = offset(SEGMENT, "client_heartbeat_ns");

    /** Fills the header but for the version, of a zeroed segment. */
    public void initialise(int executorPid, long clientId, int entries) {
        memory.set(WireTypes.U64, MAGIC, RelayLayout.MAGIC);
        memory.set(WireTypes.U32, EXECUTOR_PID, executorPid);
        memory.set(WireTypes.U64, SEGMENT_BYTES, BYTES);
        memory.set(WireTypes.U64, CLIENT_ID, clientId);
        memory.set(WireTypes.U32, RING_BYTES, RelayLayout.RING_BYTES);
        memory.set(WireTypes.U32, SLOTS, RelayLayout.SLOTS);
        memory.set(WireTypes.U32, WORDS, RelayLayout.WORDS);
        memory.set(WireTypes.U32, ENTRIES, entries);
    }

    /** Makes the segment usable: the version goes in last, with release order. */
    public void publishVersion() {
        WireTypes.setIntRelease(memory, VERSION, RelayLayout.VERSION);
    }

    /** Whether header and version are those of this protocol. */
    public boolean isUsable() {
        return WireTypes.getIntAcquire(memory, VERSION) == RelayLayout.VERSION
                && memory.get(WireTypes.U64, MAGIC) == RelayLayout.MAGIC
                && memory.get(WireTypes.U64, SEGMENT_BYTES) == BYTES;
    }

    /** Driver entries of the executor's description. */
    public int entries() {
        return memory.get(WireTypes.U32, ENTRIES);
    }

    /** CLOCK_MONOTONIC nanoseconds of the executor's last sign of life. */
    public long executorHeartbeatNs() {
        return WireTypes.getOpaque(memory, EXECUTOR_HEARTBEAT_NS);
    }

    /** The executor's sign of life. */
    public void executorHeartbeatNs(long nowNs) {
        WireTypes.setRelease(memory, EXECUTOR_HEARTBEAT_NS, nowNs);
    }

    /** CLOCK_MONOTONIC nanoseconds of the client's last sign of life; 0 before its first. */
    public long clientHeartbeatNs() {
        return WireTypes.getOpaque(memory, CLIENT_HEARTBEAT_NS);
    }

    /** CUresult that every call answers from now on; 0: the context lives. */
    public int contextError() {
        return WireTypes.getIntAcquire(memory, CONTEXT_ERROR);
    }

    /** Declares the context lost; the first error stays. */
    public void contextError(int result) {
        WireTypes.compareAndSetInt(memory, CONTEXT_ERROR, 0, result);
    }

    /** Whether the executor has let go of the client. */
    public boolean ended() {
        return WireTypes.getIntAcquire(memory, ENDED) != 0;
    }

    /** Says that the executor has let go of the client. */
    public void end() {
        WireTypes.setIntRelease(memory, ENDED, 1);
    }

    /** Asks the client to start again in time sharing; it looks at that after a call that failed. */
    public void askForTimeSharing() {
        WireTypes.setIntRelease(memory, TIME_SHARE, 1);
    }

    /** Whether the client is asked to start again in time sharing. */
    public boolean isAskedForTimeSharing() {
        return WireTypes.getIntAcquire(memory, TIME_SHARE) != 0;
    }

    /**
     * Adds a line that the client shows its user after the next call that fails; cut or lost when there is no more room. A line
     * that is there already is not added again.
     * Thread-safe: the threads that pin memory write, too.
     *
     * @param text without its line end
     */
    public synchronized void notice(String text) {
        int said = Math.clamp(WireTypes.getIntAcquire(memory, NOTICE_SAID), 0, RelayLayout.NOTICE_BYTES);
        String added = text.replace('\n', ' ') + "\n";
        byte[] line = added.getBytes(StandardCharsets.UTF_8);
        if (("\n" + notices()).contains("\n" + added)) {
            return;
        }
        int bytes = Math.min(line.length, RelayLayout.NOTICE_BYTES - said);
        if (bytes < 2) {
            return;
        }
        line[bytes - 1] = '\n';
        MemorySegment.copy(line, 0, memory, ValueLayout.JAVA_BYTE, NOTICE + said, bytes);
        WireTypes.setIntRelease(memory, NOTICE_SAID, said + bytes);
    }

    /** All lines for the user so far. */
    public String notices() {
        int said = Math.clamp(WireTypes.getIntAcquire(memory, NOTICE_SAID), 0, RelayLayout.NOTICE_BYTES);
        return new String(memory.asSlice(NOTICE, said).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** Ring position up to which records are read. */
    public long consumed() {
        return WireTypes.getAcquire(memory, CONSUMED);
    }

    /** Frees the ring up to a position. */
    public void consumed(long position) {
        WireTypes.setRelease(memory, CONSUMED, position);
    }

    /** Ring position up to which records are claimed. */
    public long claimed() {
        return WireTypes.getAcquire(memory, CLAIMED);
    }

    /** Claims the ring up to a position, as a client does; whether nobody was faster. */
    public boolean claim(long expected, long position) {
        return WireTypes.compareAndSet(memory, CLAIMED, expected, position);
    }

    /** Says that the executor is about to sleep, before it looks once more. */
    public void park() {
        WireTypes.setIntOpaque(memory, PARKED, 1);
        VarHandle.fullFence();
    }

    /** Says that the executor does not sleep. */
    public void unpark() {
        WireTypes.setIntOpaque(memory, PARKED, 0);
    }

    /** After a commit, as a client does: whether the executor slept and must be woken. */
    public boolean takeParked() {
        VarHandle.fullFence();
        return WireTypes.getIntOpaque(memory, PARKED) == 1 && WireTypes.exchangeInt(memory, PARKED, 0) == 1;
    }

    /** The futex word of parking. */
    public MemorySegment parkedWord() {
        return memory.asSlice(PARKED, Integer.BYTES);
    }

    /** Notes the error of a record without a reply, if none is noted. */
    public void callError(int result) {
        WireTypes.compareAndSetInt(memory, CALL_ERROR, 0, result);
    }

    /** Takes the noted error, as a client does. */
    public int takeCallError() {
        return WireTypes.exchangeInt(memory, CALL_ERROR, 0);
    }

    /** Bytes of device printf that the executor has written. */
    public long printed() {
        return WireTypes.getAcquire(memory, PRINTED);
    }

    /** Publishes device printf up to a count of bytes. */
    public void printed(long bytes) {
        WireTypes.setRelease(memory, PRINTED, bytes);
    }

    /** Bytes of device printf that the client has read. */
    public long printTaken() {
        return WireTypes.getAcquire(memory, PRINT_TAKEN);
    }

    /** Frees device printf up to a count of bytes, as a client does. */
    public void printTaken(long bytes) {
        WireTypes.setRelease(memory, PRINT_TAKEN, bytes);
    }

    /** Reads a completion word. */
    public long word(int index) {
        return WireTypes.getAcquire(memory, wordOffset(index));
    }

    /** Writes a completion word. */
    public void word(int index, long value) {
        WireTypes.setRelease(memory, wordOffset(index), value);
    }

    /** Writes a completion word, unless the device or the client has written another value meanwhile. */
    public void advanceWord(int index, long expected, long value) {
        WireTypes.compareAndSet(memory, wordOffset(index), expected, value);
    }

    private static long wordOffset(int index) {
        return WORD + (long) Objects.checkIndex(index, RelayLayout.WORDS) * Long.BYTES;
    }

    /** A reply slot. */
    public ReplySlot reply(int slot) {
        return new ReplySlot(memory.asSlice(REPLY + (long) Objects.checkIndex(slot, RelayLayout.SLOTS)
                * RelayLayout.SLOT_BYTES, RelayLayout.SLOT_BYTES));
    }

    /** The ring. */
    public MemorySegment ring() {
        return memory.asSlice(RING, RelayLayout.RING_BYTES);
    }

    /** The device's description. */
    public MemorySegment device() {
        return memory.asSlice(DEVICE, RelayLayout.DEVICE.byteSize());
    }
}
