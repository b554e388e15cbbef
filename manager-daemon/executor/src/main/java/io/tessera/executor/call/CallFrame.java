package io.tessera.executor.call;

import io.tessera.device.CudaResult;
import io.tessera.device.DriverEntry;
import io.tessera.device.Extent;
import io.tessera.device.HandleKind;
import io.tessera.device.ParameterDescription.Handle;
import io.tessera.device.ParameterDescription.Number;
import io.tessera.device.ParameterDescription.Opaque;
import io.tessera.device.ParameterDescription.Pointer;
import io.tessera.device.ParameterDescription.Shape;
import io.tessera.device.ParameterDescription.Structure;
import io.tessera.executor.stream.ClientContext;
import io.tessera.executor.stream.ClientStream;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RelayLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The arguments of the call in progress, in memory that the driver can read: slots, and the data of pointers. A record's contents are
 * checked against the description here; handles and addresses are checked afterwards. Reused from call to call; one owner thread.
 */
public final class CallFrame {
    /** More parameters than any entry has. */
    static final int MOST_PARAMETERS = 32;
    /** Room for a result whose extent only the driver knows: more than any of those results has. */
    private static final int UNKNOWN_EXTENT_ROOM = 512;
    /** The alignment of tensor maps, which is the largest that data needs. */
    private static final int ALIGNMENT = 64;
    private static final long SCRATCH_BYTES = 2L * RelayLayout.INLINE_MAX + RelayLayout.REPLY_MAX + 4096L * MOST_PARAMETERS;

    private final MemorySegment slots;
    private final MemorySegment scratch;
    private final long[] arguments = new long[MOST_PARAMETERS];
    private final long[] in = new long[MOST_PARAMETERS];
    private final int[] out = new int[MOST_PARAMETERS];
    private final MemorySegment[] data = new MemorySegment[MOST_PARAMETERS];
    private CallShape described;
    private boolean[] packed;
    private boolean takesHostAddresses;
    private Shape[] shapes;
    private ClientContext context;
    private ClientStream stream;
    private long scratchUsed;

    /** Creates an instance with memory of an arena that lives as long as this. */
    public CallFrame(Arena arena) {
        this.slots = arena.allocate((long) MOST_PARAMETERS * Long.BYTES, Long.BYTES);
        this.scratch = arena.allocate(SCRATCH_BYTES, ALIGNMENT);
    }

    /**
     * Reads a record's arguments and data.
     *
     * @param packedParameters by index, whether the data behind a parameter has no description
     * @param hostAddresses    whether addresses of pinned memory may stand for pointers
     * @param ofCall           the client's context; null: it needs none
     * @param bulk             data that came ahead; null: it is in the record
     * @throws RejectedException if the record does not fit the entry
     */
    public void read(CallShape shape, boolean[] packedParameters, boolean hostAddresses, ClientContext ofCall, MemorySegment record, int length,
            MemorySegment bulk) throws RejectedException {
        described = shape;
        packed = packedParameters;
        takesHostAddresses = hostAddresses;
        shapes = shape.parameters;
        context = ofCall;
        stream = null;
        scratchUsed = 0;
        int count = shapes.length;
        long dataAt = RecordHeader.BYTES + (long) count * Long.BYTES;
        if (length < dataAt) {
            throw malformed("record is shorter than its arguments");
        }
        MemorySegment from = bulk == null ? record.asSlice(dataAt, length - dataAt) : bulk;
        long taken = 0;
        long outTotal = 0;
        for (int i = 0; i < count; i++) {
            arguments[i] = record.get(WireTypes.U64, RecordHeader.BYTES + (long) i * Long.BYTES);
            in[i] = 0;
            out[i] = 0;
            data[i] = null;
            if (hasData(shapes[i]) && arguments[i] < 0) {
                in[i] = arguments[i] & 0xffff_ffffL;
                out[i] = (int) (arguments[i] >>> 32) & Integer.MAX_VALUE;
                outTotal += RelayLayout.align(out[i], 8L);
                if (in[i] > from.byteSize() - taken || outTotal > RelayLayout.REPLY_MAX) {
                    throw malformed("more data than there is");
                }
                long came = in[i];
                in[i] = isWrittenAlone(i) ? 0 : came;
                data[i] = place(shapes[i], from, taken, in[i], out[i], bulk != null);
                taken = Math.min(from.byteSize(), taken + RelayLayout.align(came, 8L));
            }
            slots.setAtIndex(ValueLayout.JAVA_LONG, i, slot(shapes[i], i));
        }
        for (int i = 0; i < count; i++) {
            checkExtent(i);
        }
    }

    /**
     * Returns whether the driver only writes there. Then the client's bytes are not copied: otherwise those that a successful driver does not
     * overwrite would pass for its results, handles above all.
     */
    private boolean isWrittenAlone(int i) {
        return shapes[i] instanceof Pointer pointer && !pointer.direction().goesIn() && !packed[i];
    }

    private static boolean hasData(Shape shape) {
        return shape instanceof Pointer || shape instanceof Structure;
    }

    private long slot(Shape shape, int i) throws RejectedException {
        return switch (shape) {
            case Pointer _ when data[i] != null -> data[i].address();
            case Pointer _ when arguments[i] == 0 || takesHostAddresses -> arguments[i]; // an address of pinned memory, checked later
            case Structure _ when data[i] != null -> data[i].address();
            case Pointer _ -> throw malformed("an address where data is asked");
            case Structure _ -> throw malformed("a structure without content");
            case Opaque opaque when opaque.function() && arguments[i] != 0 -> throw malformed("a function of the program");
            case Number number when number.bytes() < Long.BYTES -> narrowed(number, arguments[i]);
            default -> arguments[i];
        };
    }

    private static long narrowed(Number number, long value) {
        int shift = Long.SIZE - number.bytes() * Byte.SIZE;
        return number.signed() ? value << shift >> shift : value << shift >>> shift;
    }

    /** Places data for the driver; it stays in place if it came in bulk and is only input. */
    private MemorySegment place(Shape shape, MemorySegment from, long at, long inBytes, int outBytes, boolean inPlace)
            throws RejectedException {
        if (inPlace && outBytes <= inBytes && inBytes > 0) {
            return from.asSlice(at, inBytes);
        }
        long room = Math.max(inBytes, outBytes);
        if (shape instanceof Pointer pointer && pointer.extent() instanceof Extent.Handwritten) {
            room = Math.max(room, UNKNOWN_EXTENT_ROOM);
        }
        if (room > scratch.byteSize() - scratchUsed) {
            throw malformed("more data than one call has");
        }
        MemorySegment placed = scratch.asSlice(scratchUsed, room);
        scratchUsed = Math.min(scratch.byteSize(), RelayLayout.align(scratchUsed + room, (long) ALIGNMENT));
        MemorySegment.copy(from, at, placed, 0, inBytes);
        placed.asSlice(inBytes).fill((byte) 0);
        return placed;
    }

    /** Checks that the data behind a pointer is as long as the driver will read or write. */
    private void checkExtent(int i) throws RejectedException {
        if (shapes[i] instanceof Structure structure && in[i] != structure.bytes()) {
            throw malformed("a structure of " + in[i] + " bytes");
        }
        if (!(shapes[i] instanceof Pointer pointer) || data[i] == null || packed[i]) {
            return;
        }
        if (pointer.pointers()) {
            throw malformed("pointers behind a pointer");
        }
        long needed = switch (pointer.extent()) {
            case Extent.Constant constant -> product(constant.elements(), pointer.elementBytes());
            case Extent.Value value -> product(elements(value), pointer.elementBytes());
            case Extent.Behind behind -> product(behind(behind.parameter()), pointer.elementBytes());
            case Extent.Text _ -> textBytes(i);
            case Extent.Handwritten _ -> 0;
        };
        if (pointer.direction().goesIn() && in[i] < needed || pointer.direction().comesOut() && out[i] < needed) {
            throw malformed("parameter " + i + " has too little data");
        }
    }

    private long textBytes(int i) throws RejectedException {
        if (in[i] == 0 || data[i].get(ValueLayout.JAVA_BYTE, in[i] - 1) != 0) {
            throw malformed("a text without an end");
        }
        return in[i];
    }

    /** Returns the number behind a pointer, as wide as it is. */
    private long behind(int i) {
        if (data[i] == null || in[i] < Integer.BYTES) {
            return 0;
        }
        return in[i] >= Long.BYTES ? data[i].get(WireTypes.U64, 0)
                : Integer.toUnsignedLong(data[i].get(WireTypes.U32, 0));
    }

    private long elements(Extent.Value value) throws RejectedException {
        return Math.max(0, product(slots.getAtIndex(ValueLayout.JAVA_LONG, value.parameter()), value.factor())
                - value.less());
    }

    private static long product(long left, long right) throws RejectedException {
        if (left < 0 || right != 0 && left > Long.MAX_VALUE / right) {
            throw malformed("an extent beyond all memory");
        }
        return left * right;
    }

    /** The refusal of a call whose arguments are wrong: INVALID_VALUE. */
    public static RejectedException malformed(String reason) {
        return new RejectedException(CudaResult.INVALID_VALUE, reason);
    }

    /** Refuses an address of pinned memory that is not wholly the client's; asked by {@link AddressCheck}. */
    long addressBytes(int i) throws RejectedException {
        if (shapes[i] instanceof Pointer pointer && pointer.extent() instanceof Extent.Value value) {
            return product(elements(value), pointer.elementBytes());
        }
        throw malformed("an address where nobody knows how much is meant");
    }

    /** Returns the entry's description. */
    CallShape described() {
        return described;
    }

    /** Returns whether a parameter's data is packed (RELAY.md, section 8). */
    boolean isPacked(int parameter) {
        return packed[parameter];
    }

    /** Returns the entry that is called. */
    public DriverEntry entry() {
        return described.description.entry();
    }

    /** Returns the client's context; null: the call needs none. */
    public ClientContext context() {
        return context;
    }

    /** Returns the number of the context; 0: the call needs none. */
    public int contextNumber() {
        return context == null ? 0 : context.number();
    }

    /** Returns the stream that the call works on; null: none. */
    public ClientStream stream() {
        return stream;
    }

    /** Sets the stream that the call works on. */
    public void stream(ClientStream worksOn) {
        stream = worksOn;
    }

    /** Returns the number of the entry's parameters. */
    public int parameters() {
        return shapes.length;
    }

    /** Returns how a parameter fills its slot. */
    public Shape shape(int i) {
        return shapes[i];
    }

    /** Returns the kind of the handles to which a pointer leads; null: it leads to something else, or is none. */
    public HandleKind elements(int i) {
        return CallShape.elements(shapes[i]);
    }

    /** Returns the C type of a parameter. */
    public String type(int i) {
        return described.description.parameters().get(i).type();
    }

    /** Returns the parameter with a name that the entry has. */
    public int parameter(String name) {
        for (int i = 0; i < shapes.length; i++) {
            if (described.description.parameters().get(i).name().equals(name)) {
                return i;
            }
        }
        throw new IllegalStateException(entry() + " has no " + name);
    }

    /** Returns the last parameter, except for the first one, that is a pointer: a node's structure; -1: there is none. */
    public int lastPointer() {
        for (int i = shapes.length - 1; i > 0; i--) {
            if (shapes[i] instanceof Pointer) {
                return i;
            }
        }
        return -1;
    }

    /** Returns the record's value for a parameter. */
    public long argument(int i) {
        return arguments[i];
    }

    /** Returns the driver's value for a parameter. */
    public long slot(int i) {
        return slots.getAtIndex(ValueLayout.JAVA_LONG, i);
    }

    /** Sets the driver's value for a parameter. */
    public void slot(int i, long value) {
        slots.setAtIndex(ValueLayout.JAVA_LONG, i, value);
    }

    /** Returns the arguments for the driver. */
    public MemorySegment slots() {
        return slots;
    }

    /** Returns the data behind a pointer or structure; null if it is null. At least as long as in-data and out-data. */
    public MemorySegment data(int i) {
        return data[i];
    }

    /**
     * Returns the data that came in behind a pointer.
     *
     * @throws RejectedException if it is null
     */
    public MemorySegment required(int i) throws RejectedException {
        if (data[i] == null || in[i] == 0) {
            throw malformed("parameter " + i + " is null");
        }
        return data[i];
    }

    /** Bytes that came in behind a pointer. */
    public long inBytes(int i) {
        return in[i];
    }

    /** Bytes that came in behind all pointers. */
    public long totalInBytes() {
        long bytes = 0;
        for (int i = 0; i < shapes.length; i++) {
            bytes += in[i];
        }
        return bytes;
    }

    /** Bytes that the client wants back from behind a pointer. */
    public int outBytes(int i) {
        return out[i];
    }

    /**
     * Returns more memory for this call, zeroed.
     *
     * @throws RejectedException if there is no more
     */
    public MemorySegment room(long bytes) throws RejectedException {
        if (bytes > scratch.byteSize() - scratchUsed) {
            throw malformed("more data than one call has");
        }
        MemorySegment placed = scratch.asSlice(scratchUsed, bytes);
        scratchUsed = Math.min(scratch.byteSize(), RelayLayout.align(scratchUsed + bytes, (long) ALIGNMENT));
        return placed.fill((byte) 0);
    }

    /**
     * Makes the driver write a result that the client does not want, because the executor needs it.
     *
     * @throws RejectedException if there is no memory for it
     */
    public void want(int i, int bytes) throws RejectedException {
        if (data[i] == null) {
            data[i] = room(bytes);
            slot(i, data[i].address());
        }
    }

    /** Returns the first parameter whose handles are of a kind; -1 if there is none. */
    public int handleParameter(HandleKind kind) {
        for (int i = 0; i < shapes.length; i++) {
            if (shapes[i] instanceof Handle handle && handle.kind() == kind) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Copies the out-data of all pointers to a reply.
     *
     * @return its length
     */
    public int copyOut(MemorySegment reply) {
        long at = 0;
        for (int i = 0; i < shapes.length; i++) {
            if (out[i] > 0) {
                MemorySegment.copy(data[i], 0, reply, at, out[i]);
                at += RelayLayout.align(out[i], 8L);
            }
        }
        return (int) at;
    }
}
