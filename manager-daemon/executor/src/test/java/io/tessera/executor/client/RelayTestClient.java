package io.tessera.executor.client;

import static io.tessera.protocol.segment.SegmentLayout.offset;

import io.tessera.device.DriverEntry;
import io.tessera.os.FutexPort;
import io.tessera.os.LinuxPort;
import io.tessera.os.SharedMemoryPort;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import io.tessera.os.linux.Linux;
import io.tessera.protocol.WireTypes;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.message.RelayMessageAdapter;
import io.tessera.protocol.message.RelayMessageEncoder;
import io.tessera.protocol.message.RelayPinned;
import io.tessera.protocol.message.RelayToken;
import io.tessera.protocol.relay.QueryKind;
import io.tessera.protocol.relay.RecordHeader;
import io.tessera.protocol.relay.RecordKind;
import io.tessera.protocol.relay.RelayLayout;
import io.tessera.protocol.relay.RelaySegment;
import io.tessera.protocol.relay.ReplySlot;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Speaks the client's side of RELAY.md to an executor. One thread. */
public final class RelayTestClient implements AutoCloseable {
    /** No test waits longer. */
    public static final long PATIENCE_NS = 40_000_000_000L;
    /** Between looks at a condition: a test that waits leaves the processor to the executor. */
    private static final long LOOK_NS = 20_000;
    /** The context that a new client makes. */
    public static final int CONTEXT = 1;
    /** {@code CUlaunchAttribute}. */
    private static final int ATTRIBUTE_BYTES = 72;
    private static final int SLOT = 3;

    /** An argument of a call: a value, or what lies behind a pointer. */
    public sealed interface Argument {
    }

    /** A number or handle. */
    public record Value(long value) implements Argument {
    }

    /** A pointer: bytes in, and how many out. */
    public record Data(byte[] in, int out) implements Argument {
    }

    private final LinuxPort os = Linux.open();
    private final SharedMemoryPort memory = Linux.sharedMemory();
    private final FutexPort futex = Linux.futex();
    private final Arena arena = Arena.ofShared();
    private final MemorySegment packet = arena.allocate(MessageLayout.MAX_BYTES + 8L, 8);
    private final int socket;
    private final RelaySegment segment;
    private final MemorySegment ring;
    private int sharedBytes;
    private byte[] out = new byte[0];

    /** Connects, shows a token and maps the segment. */
    public RelayTestClient(Path path, RelayToken token) throws Exception {
        socket = os.sockets().connect(path, SocketKind.SEQPACKET);
        os.sockets().send(socket, packet, RelayMessageEncoder.hello(packet, token));
        SocketPort.Received received = welcome();
        if (!(RelayMessageAdapter.fromExecutor(packet, received.bytes()) instanceof RelayMessageAdapter.Welcome welcome)) {
            throw new IllegalStateException("refused: " + RelayMessageAdapter.fromExecutor(packet, received.bytes()));
        }
        segment = new RelaySegment(memory.map(received.descriptor(), welcome.segmentBytes(), arena));
        memory.close(received.descriptor());
        ring = segment.ring();
    }

    /** A client that is interrupted meanwhile leaves. */
    private SocketPort.Received welcome() throws Exception {
        try {
            return receive();
        } catch (InterruptedException e) {
            os.sockets().close(socket);
            throw e;
        }
    }

    private SocketPort.Received receive() throws Exception {
        long untilNs = System.nanoTime() + PATIENCE_NS;
        while (true) {
            SocketPort.Received received = os.sockets().receiveWithDescriptor(socket, packet);
            if (received.bytes() != SocketPort.WOULD_BLOCK) {
                return received;
            }
            if (System.nanoTime() > untilNs) {
                throw new IllegalStateException("no answer");
            }
            Thread.sleep(1);
        }
    }

    /** Returns the segment. */
    public RelaySegment segment() {
        return segment;
    }

    /** Waits until something holds. */
    public static void await(BooleanSupplier condition, String what) {
        long untilNs = System.nanoTime() + PATIENCE_NS;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > untilNs) {
                throw new AssertionError("waited in vain: " + what);
            }
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    /** Claims room in the ring for a record with this many bytes after the header; the offset of its header. */
    public long claim(int body) {
        int bytes = RelayLayout.recordBytes(body);
        while (true) {
            long claimed = segment.claimed();
            long at = claimed & RelayLayout.RING_BYTES - 1;
            boolean wraps = at + bytes > RelayLayout.RING_BYTES;
            int length = wraps ? (int) (RelayLayout.RING_BYTES - at) : bytes;
            await(() -> claimed + length - segment.consumed() <= RelayLayout.RING_BYTES, "room in the ring");
            if (!segment.claim(claimed, claimed + length)) {
                continue;
            }
            RecordHeader.lengthRelease(ring, at, -length);
            if (!wraps) {
                return at;
            }
            RecordHeader.write(ring, at, RecordKind.PADDING, 0, 0, 0, 0);
            commit(at, length);
        }
    }

    /** Publishes a record of this many bytes with the header. */
    public void commit(long at, int length) {
        RecordHeader.lengthRelease(ring, at, length);
        if (segment.takeParked()) {
            try {
                futex.wake(segment.parkedWord());
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Sends a record whose body is given; whether it asks for a reply. */
    public void send(RecordKind kind, int entry, boolean reply, int context, int flags, byte[] body) {
        long at = claim(body.length);
        RecordHeader.write(ring, at, kind, entry, reply ? SLOT + 1 : 0, context, flags);
        MemorySegment.copy(body, 0, ring, ValueLayout.JAVA_BYTE, at + RecordHeader.BYTES, body.length);
        if (reply) {
            segment.reply(SLOT).expectNext();
        }
        commit(at, RecordHeader.BYTES + body.length);
    }

    /** Sends a record and waits for its reply. Returns the CUresult. */
    public int ask(RecordKind kind, int entry, int context, int flags, byte[] body) {
        int expected = segment.reply(SLOT).sequence() + 1;
        send(kind, entry, true, context, flags, body);
        ReplySlot slot = segment.reply(SLOT);
        await(() -> slot.sequence() == expected || segment.ended(), "a reply");
        out = slot.data().asSlice(0, slot.bytes()).toArray(ValueLayout.JAVA_BYTE);
        return slot.sequence() == expected ? slot.result() : segment.contextError();
    }

    /** Out-data of the last reply. */
    public byte[] out() {
        return out;
    }

    /** A number in the out-data of the last reply. */
    public long outLong(int at) {
        return MemorySegment.ofArray(out).get(ValueLayout.JAVA_LONG_UNALIGNED, at);
    }

    /** A number argument. */
    public static Argument value(long value) {
        return new Value(value);
    }

    /** Room for results. */
    public static Argument outBytes(int bytes) {
        return new Data(new byte[0], bytes);
    }

    /** Room for results with bytes in it that nobody asked for. */
    public static Argument filledOut(byte[] data) {
        return new Data(data, data.length);
    }

    /** In-data. */
    public static Argument in(byte[] data) {
        return new Data(data, 0);
    }

    /** Text with its zero. */
    public static Argument text(String text) {
        return in((text + "\0").getBytes(StandardCharsets.UTF_8));
    }

    /** Calls an entry and waits. */
    public int call(DriverEntry entry, Argument... arguments) {
        return ask(RecordKind.CALL, entry.ordinal(), CONTEXT, 0, body(arguments));
    }

    /** Calls an entry whose answer it never reads. */
    public void ask(DriverEntry entry, Argument... arguments) {
        send(RecordKind.CALL, entry.ordinal(), true, CONTEXT, 0, body(arguments));
    }

    /** Calls an entry without waiting. */
    public void post(DriverEntry entry, Argument... arguments) {
        send(RecordKind.CALL, entry.ordinal(), false, CONTEXT, 0, body(arguments));
    }

    private static byte[] body(Argument... arguments) {
        int bytes = arguments.length * 8;
        for (Argument argument : arguments) {
            bytes += argument instanceof Data data ? RelayLayout.align(data.in.length, 8) : 0;
        }
        MemorySegment body = MemorySegment.ofArray(new byte[bytes]);
        int at = arguments.length * 8;
        for (int i = 0; i < arguments.length; i++) {
            long word = switch (arguments[i]) {
                case Value value -> value.value;
                case Data data -> RelayLayout.POINTER_PRESENT | (long) data.out << 32 | data.in.length;
            };
            body.set(ValueLayout.JAVA_LONG_UNALIGNED, i * 8L, word);
            if (arguments[i] instanceof Data data) {
                MemorySegment.copy(data.in, 0, body, ValueLayout.JAVA_BYTE, at, data.in.length);
                at += RelayLayout.align(data.in.length, 8);
            }
        }
        return body.toArray(ValueLayout.JAVA_BYTE);
    }

    /** Makes or ends a context. */
    public int context(int number, int change) {
        MemorySegment body = MemorySegment.ofArray(new byte[8]);
        body.set(ValueLayout.JAVA_INT_UNALIGNED, 0, change);
        return ask(RecordKind.CONTEXT, 0, number, 0, body.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Asks a query. */
    public int query(QueryKind kind, long about) {
        MemorySegment body = MemorySegment.ofArray(new byte[8]);
        body.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, about);
        return ask(RecordKind.QUERY, kind.code(), CONTEXT, 0, body.toArray(ValueLayout.JAVA_BYTE));
    }

    /** Body of MARK, WATCH_EVENT and HOST_CALL. */
    public static byte[] mark(long handle, long value, int word) {
        MemorySegment body = MemorySegment.ofArray(new byte[24]);
        body.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, handle);
        body.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, value);
        body.set(ValueLayout.JAVA_INT_UNALIGNED, 16, word);
        return body.toArray(ValueLayout.JAVA_BYTE);
    }

    /** Marks a stream and waits for the word. */
    public void synchronise(long stream, int word, long value) {
        send(RecordKind.MARK, 0, false, CONTEXT, 0, mark(stream, value, word));
        await(() -> segment.word(word) == value, "a mark");
    }

    /** Launches a kernel over one thread, without waiting. */
    public void launch(long function, long stream, byte[] parameters) {
        launch(function, stream, parameters, 1, 0);
    }

    /** Launches a grid of one block of this many threads, with flags of the record. */
    public void launch(long function, long stream, byte[] parameters, int threads, int flags) {
        launch(function, stream, parameters, new int[] {1, 1, 1}, threads, flags);
    }

    /** What launches from now on ask for. */
    public void sharedBytes(int bytes) {
        sharedBytes = bytes;
    }

    /** Launches one thread with a launch attribute whose value is one word. */
    public void launchWith(long function, long stream, byte[] parameters, int attribute, int value) {
        byte[] attributes = new byte[ATTRIBUTE_BYTES];
        MemorySegment.ofArray(attributes).set(ValueLayout.JAVA_INT_UNALIGNED, 0, attribute);
        MemorySegment.ofArray(attributes).set(ValueLayout.JAVA_INT_UNALIGNED, 8, value);
        launch(function, stream, parameters, new int[] {1, 1, 1}, 1, 0, attributes);
    }

    /** Launches a grid of blocks of this many threads, with flags of the record. */
    public void launch(long function, long stream, byte[] parameters, int[] grid, int threads, int flags) {
        launch(function, stream, parameters, grid, threads, flags, new byte[0]);
    }

    private void launch(long function, long stream, byte[] parameters, int[] grid, int threads, int flags, byte[] attributes) {
        int body = (int) RelayLayout.LAUNCH.byteSize() + attributes.length + parameters.length;
        long at = claim(body);
        long launch = at + RecordHeader.BYTES;
        RecordHeader.write(ring, at, RecordKind.LAUNCH, 0, 0, CONTEXT, flags);
        ring.set(WireTypes.U64, launch, function);
        ring.set(WireTypes.U64, launch + 8, stream);
        for (int i = 0; i < 3; i++) {
            ring.set(WireTypes.U32, launch + 16 + 4L * i, grid[i]);
            ring.set(WireTypes.U32, launch + 28 + 4L * i, i == 0 ? threads : 1);
        }
        ring.set(WireTypes.U32, launch + offset(RelayLayout.LAUNCH, "shared_bytes"), sharedBytes);
        ring.set(WireTypes.U32, launch + offset(RelayLayout.LAUNCH, "attributes"), attributes.length / ATTRIBUTE_BYTES);
        ring.set(WireTypes.U32, launch + offset(RelayLayout.LAUNCH, "parameter_bytes"), parameters.length);
        MemorySegment.copy(attributes, 0, ring, ValueLayout.JAVA_BYTE, launch + RelayLayout.LAUNCH.byteSize(), attributes.length);
        MemorySegment.copy(parameters, 0, ring, ValueLayout.JAVA_BYTE, launch + RelayLayout.LAUNCH.byteSize() + attributes.length,
                parameters.length);
        commit(at, RecordHeader.BYTES + body);
    }

    /** Asks for memory that both map. */
    public RelayPinned pin(long bytes, long notBelow) throws Exception {
        os.sockets().send(socket, packet, RelayMessageEncoder.pin(packet, bytes, notBelow));
        SocketPort.Received received = receive();
        RelayPinned pinned = ((RelayMessageAdapter.Pinned) RelayMessageAdapter.fromExecutor(packet, received.bytes())).pinned();
        if (received.descriptor() >= 0) {
            memory.close(received.descriptor());
        }
        return pinned;
    }

    /** Hands a file over. Returns what was answered. */
    public RelayMessageAdapter.ImageTaken offer(int descriptor, long offset, long bytes) throws Exception {
        int length = RelayMessageEncoder.image(packet, offset, bytes);
        if (descriptor < 0) {
            os.sockets().send(socket, packet, length);
        } else {
            os.sockets().sendWithDescriptor(socket, packet, length, descriptor);
        }
        return (RelayMessageAdapter.ImageTaken) RelayMessageAdapter.fromExecutor(packet, receive().bytes());
    }

    /** Loads a library whose image is in a file that was handed over. Returns the CUresult. */
    public int loadOffered(long number) {
        MemorySegment reference = MemorySegment.ofArray(new byte[(int) RelayLayout.IMAGE_REFERENCE.byteSize()]);
        reference.set(ValueLayout.JAVA_INT_UNALIGNED, 0, RelayLayout.IMAGE_MAGIC);
        reference.set(ValueLayout.JAVA_LONG_UNALIGNED, 8, number);
        return call(DriverEntry.cuLibraryLoadData, outBytes(8), in(reference.toArray(ValueLayout.JAVA_BYTE)), value(0),
                value(0), value(0), value(0), value(0), value(0));
    }

    /** Ends the connection, as a process that dies does. */
    public void disconnect() throws Exception {
        os.sockets().close(socket);
    }

    @Override
    public void close() {
        arena.close();
    }
}
