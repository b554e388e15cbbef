package io.tessera.protocol.relay;

import static io.tessera.protocol.relay.RelayLayout.RECORD;
import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.protocol.WireTypes;
import java.lang.foreign.MemorySegment;

/**
 * The first 16 bytes of a record, as one reads and writes them. Stateless; reads a copy, never the ring, except for the
 * length.
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

    /** Length in the ring: 0 not claimed, negative while it is written. */
    public static int lengthAcquire(MemorySegment ring, long at) {
        return WireTypes.getIntAcquire(ring, at + LENGTH);
    }

    /** Publishes a length, as a client does. */
    public static void lengthRelease(MemorySegment ring, long at, int length) {
        WireTypes.setIntRelease(ring, at + LENGTH, length);
    }

    /** Everything but the length, as a client writes it. */
    public static void write(MemorySegment to, long at, RecordKind kind, int entry, int slot, int context, int flags) {
        to.set(WireTypes.U16, at + KIND, (short) kind.code());
        to.set(WireTypes.U16, at + ENTRY, (short) entry);
        to.set(WireTypes.U32, at + SLOT, slot);
        to.set(WireTypes.U16, at + CONTEXT, (short) context);
        to.set(WireTypes.U16, at + FLAGS, (short) flags);
    }

    /** Number of the kind. */
    public static int kind(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, KIND));
    }

    /** Index of the driver entry, or what a query asks. */
    public static int entry(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, ENTRY));
    }

    /** Reply slot + 1, unsigned; 0: no reply. */
    public static int slot(MemorySegment record) {
        return record.get(WireTypes.U32, SLOT);
    }

    /** The client's context; 0: none. */
    public static int context(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, CONTEXT));
    }

    /** Flags. */
    public static int flags(MemorySegment record) {
        return Short.toUnsignedInt(record.get(WireTypes.U16, FLAGS));
    }
}
