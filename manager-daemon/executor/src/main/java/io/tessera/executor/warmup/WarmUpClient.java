package io.tessera.executor.warmup;

import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.clock.NanoClock;
import io.tessera.device.DriverEntry;
import io.tessera.executor.wait.BoundedWait;
import io.tessera.executor.wait.WaitLimit;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxException;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import io.tessera.protocol.relay.ReplySlot;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/**
 * The client's side of a ring (RELAY.md), as far as the warm-up needs it: one context and small records. One thread.
 */
public final class WarmUpClient {
    /** The context of every record. */
    public static final int CONTEXT = 1;
    private static final long LAUNCH_BYTES = RelayLayout.LAUNCH.byteSize();
    private static final long FUNCTION = offset(RelayLayout.LAUNCH, "function");
    private static final long STREAM = offset(RelayLayout.LAUNCH, "stream");
    private static final long GRID = offset(RelayLayout.LAUNCH, "grid");
    private static final long BLOCK = offset(RelayLayout.LAUNCH, "block");
    private static final long PARAMETER_BYTES = offset(RelayLayout.LAUNCH, "parameter_bytes");
    /** Number of polls of a word before the thread sleeps, because the session and the JVM's compilers may need the core. */
    private static final int LOOKS = 200;

    private final RelaySegment segment;
    private final MemorySegment ring;
    private final ReplySlot[] replies = new ReplySlot[RelayLayout.SLOTS];
    private final int[] expected = new int[RelayLayout.SLOTS];
    private final FutexPort futex;
    private final NanoClock clock;

    /** Creates an instance over a segment whose only client it is. */
    public WarmUpClient(RelaySegment segment, FutexPort futex, NanoClock clock) {
        this.segment = segment;
        this.ring = segment.ring();
        for (int slot = 0; slot < replies.length; slot++) {
            replies[slot] = segment.reply(slot);
        }
        this.futex = futex;
        this.clock = clock;
    }

    /** A condition that a session makes true. */
    @FunctionalInterface
    private interface Condition {
        boolean holds();
    }

    private void await(Condition condition) throws WarmUpEndedException {
        BoundedWait wait = null;
        for (int look = 1; !condition.holds(); look++) {
            Thread.onSpinWait();
            if (look > LOOKS) {
                wait = wait == null ? BoundedWait.begin(clock, WaitLimit.WARM_UP_ANSWER) : wait;
                wait.pause();
                if (wait.isOver() || segment.ended() || segment.contextError() != 0) {
                    throw new WarmUpEndedException("the session does not answer");
                }
            }
        }
    }

    /** Returns a pointer argument: the bytes of in-data, which is in the words after the arguments, and the bytes of out-data. */
    public static long pointer(int inBytes, int outBytes) {
        return RelayLayout.POINTER_PRESENT | (long) outBytes << 32 | inBytes;
    }

    /** Returns a text with its NUL as words of in-data. */
    public static long[] words(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        MemorySegment padded = MemorySegment.ofArray(new long[bytes.length / Long.BYTES + 1]);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, padded, 0, bytes.length);
        return padded.toArray(WireTypes.U64);
    }

    /** Calls an entry with the words that follow the header, for an answer in a slot. */
    public void begin(int slot, DriverEntry entry, long... words) throws WarmUpEndedException {
        expected[slot] = replies[slot].expectNext();
        send(RecordKind.CALL, entry.ordinal(), slot + 1, 0, words);
    }

    /** Waits for the answer in a slot. Returns the CUresult. */
    public int end(int slot) throws WarmUpEndedException {
        await(() -> replies[slot].sequence() == expected[slot]);
        return replies[slot].result();
    }

    /** Returns the first eight bytes of out-data of the last answer in a slot. */
    public long out(int slot) {
        return replies[slot].memory().get(WireTypes.U64, ReplySlot.DATA);
    }

    /** Calls an entry and waits for the answer, in slot 0. Returns the CUresult. */
    public int call(DriverEntry entry, long... words) throws WarmUpEndedException {
        begin(0, entry, words);
        return end(0);
    }

    /** Calls an entry without an answer. */
    public void post(DriverEntry entry, long... words) throws WarmUpEndedException {
        send(RecordKind.CALL, entry.ordinal(), 0, 0, words);
    }

    /** Sends a record other than a call and waits for the answer, in slot 0. Returns the CUresult. */
    public int ask(RecordKind kind, int what, long... words) throws WarmUpEndedException {
        expected[0] = replies[0].expectNext();
        send(kind, what, 1, 0, words);
        return end(0);
    }

    /** Waits until a word has a value. */
    public void awaitWord(int word, long value) throws WarmUpEndedException {
        await(() -> segment.word(word) == value);
    }

    /** Sends a MARK or WATCH_EVENT. */
    public void mark(RecordKind kind, long handle, int word, long value) throws WarmUpEndedException {
        send(kind, 0, 0, 0, handle, value, word);
    }

    /** Sends a MARK with FLAG_WAITED, and waits for it. */
    public void awaitMark(long stream, int word, long value) throws WarmUpEndedException {
        send(RecordKind.MARK, 0, 0, RelayLayout.FLAG_WAITED, stream, value, word);
        awaitWord(word, value);
    }

    /** Launches a kernel of one thread and one parameter. */
    public void launch(long function, long stream, long parameter) throws WarmUpEndedException {
        int bytes = (int) LAUNCH_BYTES + Long.BYTES;
        long at = claim(bytes) + RecordHeader.BYTES;
        ring.asSlice(at, LAUNCH_BYTES).fill((byte) 0);
        ring.set(WireTypes.U64, at + FUNCTION, function);
        ring.set(WireTypes.U64, at + STREAM, stream);
        for (long i = 0; i < 3; i++) {
            ring.set(WireTypes.U32, at + GRID + i * Integer.BYTES, 1);
            ring.set(WireTypes.U32, at + BLOCK + i * Integer.BYTES, 1);
        }
        ring.set(WireTypes.U32, at + PARAMETER_BYTES, Long.BYTES);
        ring.set(WireTypes.U64, at + LAUNCH_BYTES, parameter);
        commit(at - RecordHeader.BYTES, RecordKind.LAUNCH, 0, 0, 0, bytes);
    }

    private void send(RecordKind kind, int entry, int slot, int flags, long... words) throws WarmUpEndedException {
        int bytes = words.length * Long.BYTES;
        long at = claim(bytes);
        for (int i = 0; i < words.length; i++) {
            ring.set(WireTypes.U64, at + RecordHeader.BYTES + (long) i * Long.BYTES, words[i]);
        }
        commit(at, kind, entry, slot, flags, bytes);
    }

    private long claim(int body) throws WarmUpEndedException {
        int length = RelayLayout.recordBytes(body);
        long at = segment.claimed() & RelayLayout.RING_BYTES - 1;
        if (at + length > RelayLayout.RING_BYTES) {
            int rest = (int) (RelayLayout.RING_BYTES - at);
            room(rest);
            commit(at, RecordKind.PADDING, 0, 0, 0, rest - RecordHeader.BYTES);
            at = 0;
        }
        room(length);
        return at;
    }

    private void room(int length) throws WarmUpEndedException {
        long claimed = segment.claimed();
        await(() -> claimed + length - segment.consumed() <= RelayLayout.RING_BYTES);
        segment.claim(claimed, claimed + length);
    }

    private void commit(long at, RecordKind kind, int entry, int slot, int flags, int body) throws WarmUpEndedException {
        RecordHeader.write(ring, at, kind, entry, slot, CONTEXT, flags);
        RecordHeader.lengthRelease(ring, at, RecordHeader.BYTES + body);
        if (segment.takeParked()) {
            try {
                futex.wake(segment.parkedWord());
            } catch (LinuxException e) {
                throw new WarmUpEndedException(e.getMessage());
            }
        }
    }
}
