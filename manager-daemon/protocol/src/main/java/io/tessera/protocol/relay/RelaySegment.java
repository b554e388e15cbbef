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
 * View of a mapped relay segment: its header and the words through which executor and client communicate. Owns nothing. Each word has one writer, as
 * the header file documents. What the client writes is only its claim: copy it, then check it.
 *
 * @param memory the whole segment
 */
public record RelaySegment(MemorySegment memory) {
    /** Bytes of a segment. */
    public static final long BYTES = SEGMENT.byteSize();
    /** Offset of the device's description. */
    public static final long DEVICE = offset(SEGMENT, "device");
    /** Offset of the printed text. */
    public static final long PRINT = offset(SEGMENT, "print");
    /** Offset of the completion words. */
    public static final long WORD = offset(SEGMENT, "word");
    /** Offset of the ring. */
    public static final long RING = offset(SEGMENT, "ring");
    /** Offset of the context's error. */
    public static final long CONTEXT_ERROR = offset(SEGMENT, "context_error");
    /** Offset of the reply slots. */
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

    /** Fills the header of a zeroed segment, except for the version. */
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

    /** Makes the segment usable: the version is written last, with release order. */
    public void publishVersion() {
        WireTypes.setIntRelease(memory, VERSION, RelayLayout.VERSION);
    }

    /** Returns whether header and version are those of this protocol. */
    public boolean isUsable() {
        return WireTypes.getIntAcquire(memory, VERSION) == RelayLayout.VERSION
                && memory.get(WireTypes.U64, MAGIC) == RelayLayout.MAGIC
                && memory.get(WireTypes.U64, SEGMENT_BYTES) == BYTES;
    }

    /** Returns the number of driver entries in the executor's description. */
    public int entries() {
        return memory.get(WireTypes.U32, ENTRIES);
    }

    /** Returns the time of the executor's last heartbeat, CLOCK_MONOTONIC nanoseconds. */
    public long executorHeartbeatNs() {
        return WireTypes.getOpaque(memory, EXECUTOR_HEARTBEAT_NS);
    }

    /** Writes the executor's heartbeat. */
    public void executorHeartbeatNs(long nowNs) {
        WireTypes.setRelease(memory, EXECUTOR_HEARTBEAT_NS, nowNs);
    }

    /** Returns the time of the client's last heartbeat, CLOCK_MONOTONIC nanoseconds; 0 before its first. */
    public long clientHeartbeatNs() {
        return WireTypes.getOpaque(memory, CLIENT_HEARTBEAT_NS);
    }

    /** Returns the CUresult that every call answers from now on; 0: the context is valid. */
    public int contextError() {
        return WireTypes.getIntAcquire(memory, CONTEXT_ERROR);
    }

    /** Declares the context lost; the first error stays. */
    public void contextError(int result) {
        WireTypes.compareAndSetInt(memory, CONTEXT_ERROR, 0, result);
    }

    /** Returns whether the executor has ended its service for the client. */
    public boolean ended() {
        return WireTypes.getIntAcquire(memory, ENDED) != 0;
    }

    /** Declares that the executor has ended its service for the client. */
    public void end() {
        WireTypes.setIntRelease(memory, ENDED, 1);
    }

    /** Asks the client to start again in time sharing; it checks this after a call that failed. */
    public void askForTimeSharing() {
        WireTypes.setIntRelease(memory, TIME_SHARE, 1);
    }

    /** Returns whether the client is asked to start again in time sharing. */
    public boolean isAskedForTimeSharing() {
        return WireTypes.getIntAcquire(memory, TIME_SHARE) != 0;
    }

    /**
     * Adds a line that the client shows its user after the next call that fails; cut or lost if there is not enough room. A line that is already
     * there is not added again. Thread-safe, because the threads that pin memory also write.
     *
     * @param text the line without its line end
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

    /** Returns all lines for the user so far. */
    public String notices() {
        int said = Math.clamp(WireTypes.getIntAcquire(memory, NOTICE_SAID), 0, RelayLayout.NOTICE_BYTES);
        return new String(memory.asSlice(NOTICE, said).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }

    /** Returns the ring position up to which records are read. */
    public long consumed() {
        return WireTypes.getAcquire(memory, CONSUMED);
    }

    /** Frees the ring up to a position. */
    public void consumed(long position) {
        WireTypes.setRelease(memory, CONSUMED, position);
    }

    /** Returns the ring position up to which records are claimed. */
    public long claimed() {
        return WireTypes.getAcquire(memory, CLAIMED);
    }

    /** Claims the ring up to a position, as a client does; returns whether no other thread was faster. */
    public boolean claim(long expected, long position) {
        return WireTypes.compareAndSet(memory, CLAIMED, expected, position);
    }

    /** Declares that the executor is about to sleep, before it checks the ring once more. */
    public void park() {
        WireTypes.setIntOpaque(memory, PARKED, 1);
        VarHandle.fullFence();
    }

    /** Declares that the executor does not sleep. */
    public void unpark() {
        WireTypes.setIntOpaque(memory, PARKED, 0);
    }

    /** Returns, after a client's commit, whether the executor slept and must be woken. */
    public boolean takeParked() {
        VarHandle.fullFence();
        return WireTypes.getIntOpaque(memory, PARKED) == 1 && WireTypes.exchangeInt(memory, PARKED, 0) == 1;
    }

    /** Returns the futex word of parking. */
    public MemorySegment parkedWord() {
        return memory.asSlice(PARKED, Integer.BYTES);
    }

    /** Records the error of a record without a reply, if none is recorded. */
    public void callError(int result) {
        WireTypes.compareAndSetInt(memory, CALL_ERROR, 0, result);
    }

    /** Takes the recorded error, as a client does. */
    public int takeCallError() {
        return WireTypes.exchangeInt(memory, CALL_ERROR, 0);
    }

    /** Returns the number of bytes of device printf that the executor has written. */
    public long printed() {
        return WireTypes.getAcquire(memory, PRINTED);
    }

    /** Publishes device printf up to a count of bytes. */
    public void printed(long bytes) {
        WireTypes.setRelease(memory, PRINTED, bytes);
    }

    /** Returns the number of bytes of device printf that the client has read. */
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

    /** Returns a reply slot. */
    public ReplySlot reply(int slot) {
        return new ReplySlot(memory.asSlice(REPLY + (long) Objects.checkIndex(slot, RelayLayout.SLOTS)
                * RelayLayout.SLOT_BYTES, RelayLayout.SLOT_BYTES));
    }

    /** Returns the ring. */
    public MemorySegment ring() {
        return memory.asSlice(RING, RelayLayout.RING_BYTES);
    }

    /** Returns the device's description. */
    public MemorySegment device() {
        return memory.asSlice(DEVICE, RelayLayout.DEVICE.byteSize());
    }
}
