package io.tessera.protocol.relay;

import static io.tessera.protocol.relay.RelayLayout.REPLY;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * View of one reply slot. The executor writes sequence, result, bytes and data; the client writes the rest.
 *
 * @param memory the slot
 */
public record ReplySlot(MemorySegment memory) {
    /** Offset of the out-data. */
    public static final long DATA = REPLY.byteSize();
    private static final long SEQUENCE = offset(REPLY, "sequence");
    private static final long EXPECTED = offset(REPLY, "expected");
    private static final long RESULT = offset(REPLY, "result");
    private static final long BYTES = offset(REPLY, "bytes");
    private static final long WAITING = offset(REPLY, "waiting");

    /**
     * Publishes an answer whose out-data is in place.
     *
     * @return whether the client sleeps and must be woken
     */
    public boolean answer(int result, int bytes) {
        memory.set(WireTypes.U32, RESULT, result);
        memory.set(WireTypes.U32, BYTES, bytes);
        WireTypes.setIntRelease(memory, SEQUENCE, memory.get(WireTypes.U32, SEQUENCE) + 1);
        VarHandle.fullFence();
        return WireTypes.getIntOpaque(memory, WAITING) != 0;
    }

    /** Returns the futex word of the client's sleep. */
    public MemorySegment sequenceWord() {
        return memory.asSlice(SEQUENCE, Integer.BYTES);
    }

    /** Returns the number of the last answer. */
    public int sequence() {
        return WireTypes.getIntAcquire(memory, SEQUENCE);
    }

    /** Returns the number of the next answer, as a client counts before it sends. */
    public int expectNext() {
        int expected = memory.get(WireTypes.U32, EXPECTED) + 1;
        memory.set(WireTypes.U32, EXPECTED, expected);
        return expected;
    }

    /** Declares whether the client sleeps. */
    public void waiting(boolean waiting) {
        WireTypes.setIntOpaque(memory, WAITING, waiting ? 1 : 0);
        VarHandle.fullFence();
    }

    /** Returns the CUresult of the last answer. */
    public int result() {
        return memory.get(WireTypes.U32, RESULT);
    }

    /** Returns the number of bytes of out-data in the last answer. */
    public int bytes() {
        return memory.get(WireTypes.U32, BYTES);
    }

    /** Returns the memory of the out-data. */
    public MemorySegment data() {
        return memory.asSlice(DATA, RelayLayout.REPLY_MAX);
    }
}
