package io.tessera.protocol.relay;

import static io.tessera.protocol.relay.RelayLayout.RECORD;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * Reads and writes the first 16 bytes of a record. Stateless; reads a copy, never the ring, except for the length.
 */
public final class RecordHeader {
    /** Bytes of the header. */
    public static final int BYTES = (int) RECORD.byteSize();
    private static final long LENGTH = offset(RECORD, "length");
    private static final long KIND = offset(RECORD, "kind");
    private static final long ENTRY = offset(RECORD, "entry");
    private static final long SLOT = offset(RECORD, "slot");
    private static final long CONTEXT = offset(RECORD, "context");
    private static final long FLAGS = offset(RECORD, "flags");

    private RecordHeader() {
    }

    /** Returns the length in the ring: 0 if not claimed, negative while it is written. */
    public static int lengthAcquire(MemorySegment ring, long at) {
        return WireTypes.getIntAcquire(ring, at + LENGTH);
    }

    /** Publishes a length, as a client does. */
    public static void lengthRelease(MemorySegment ring, long at, int length) {
        WireTypes.setIntRelease(ring, at + LENGTH, length);
    }

    /** Writes everything except the length, as a client does. */
    public static void write(MemorySegment to, long at, RecordKind kind, int entry, int slot, int context, int flags) {
        to.set(WireTypes.U16, at + KIND, (short) kind.code());
        to.set(WireTypes.U16, at + ENTRY, (short) entry);
        to.set(WireTypes.U32, at + SLOT, slot);
        to.set(WireTypes.U16, at + CONTEXT, (short) context);
        to.set(WireTypes.U16, at + FLAGS, (short) flags);
    }

    /** Returns the number of the kind. */
    public static int kind(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, KIND));
    }

    /** Returns the index of the driver entry, or the subject of a query. */
    public static int entry(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, ENTRY));
    }

    /** Returns the reply slot + 1, unsigned; 0: no reply. */
    public static int slot(MemorySegment record) {
        return record.get(WireTypes.U32, SLOT);
    }

    /** Returns the client's context; 0: none. */
    public static int context(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, CONTEXT));
    }

    /** Returns the flags. */
    public static int flags(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, FLAGS));
    }
}
