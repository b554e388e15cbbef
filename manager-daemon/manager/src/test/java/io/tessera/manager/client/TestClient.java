package io.tessera.manager.client;

import io.tessera.os.LinuxException;
import io.tessera.os.LinuxPort;
import io.tessera.os.SocketKind;
import io.tessera.os.SocketPort;
import io.tessera.os.linux.Linux;
import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MessageEncoder;
import io.tessera.protocol.message.MessageLayout;
import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.TurnWord;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BooleanSupplier;

/** A client in Java over the real socket that answers turn words at once, because it never has work on the device. */
public final class TestClient implements AutoCloseable {
    /** A device that tests announce; the same that holder.c does. */
    public static final DeviceUuid GPU = new DeviceUuid(0x1111_1111_1111_1111L, 0x1111_1111_1111_1111L);
    private static final long PATIENCE_NS = 60_000_000_000L;

    private final LinuxPort os = Linux.open();
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment packet = arena.allocate(MessageLayout.MAX_BYTES, 8);
    private final int socket;
    private MemorySegment segment;
    private final ManagerWords said = new ManagerWords();
    /** The manager's messages, in words. */
    public final List<String> heard = said.words();
    /** Number of turns granted to it. */
    public int turns;
    private boolean ended;

    /** Connects without sending anything. */
    public TestClient(Path registrationSocket) throws LinuxException {
        socket = os.sockets().connect(registrationSocket, SocketKind.SEQPACKET);
    }

    /** Connects, registers, and has a context on {@link #GPU} in slot 0. */
    public static TestClient onDevice(Path registrationSocket, String tenant) throws Exception {
        return onDevice(registrationSocket, tenant, MemoryPlan.PLAIN);
    }

    /** As above, with a plan. */
    public static TestClient onDevice(Path registrationSocket, String tenant, MemoryPlan plan) throws Exception {
        TestClient client = new TestClient(registrationSocket);
        client.hello(tenant, plan);
        client.await("WELCOME", () -> client.segment != null);
        client.send(MessageEncoder.device(client.packet,
                new DeviceAnnouncement(0, GPU, 64L << 30, 0, "Scripted GPU")));
        client.await("registered", () -> client.block().registered());
        return client;
    }

    /** Sends HELLO. */
    public void hello(String tenant) throws LinuxException {
        hello(tenant, MemoryPlan.PLAIN);
    }

    private void hello(String tenant, MemoryPlan plan) throws LinuxException {
        send(MessageEncoder.hello(packet, new Hello(os.processes().pid(), plan, 0, 0, tenant, "TestClient")));
    }

    private void send(int bytes) throws LinuxException {
        if (os.sockets().send(socket, packet, bytes) == SocketPort.WOULD_BLOCK) {
            throw new AssertionError("the manager does not read");
        }
    }

    /** Sends bytes as they are. Returns false if the manager has ended the connection or its socket is full. */
    public boolean sendRaw(byte[] bytes) {
        MemorySegment raw = arena.allocate(Math.max(1, bytes.length), 8);
        MemorySegment.copy(bytes, 0, raw, ValueLayout.JAVA_BYTE, 0, bytes.length);
        try {
            return os.sockets().send(socket, raw, bytes.length) != SocketPort.WOULD_BLOCK;
        } catch (LinuxException e) {
            return false;
        }
    }

    /** Returns its words of the device. */
    public DeviceBlock block() {
        return DeviceBlock.of(segment, 0);
    }

    /** Returns its segment; null before WELCOME. */
    public MemorySegment segment() {
        return segment;
    }

    /** Returns whether the manager has ended the connection. */
    public boolean isEnded() {
        return ended;
    }

    /** Asks for a turn. */
    public void want() throws LinuxException {
        block().wantSinceNs(System.nanoTime());
        ring();
    }

    /** Rings. */
    public void ring() throws LinuxException {
        send(MessageEncoder.doorbell(packet, 0));
    }

    /** Gives its turn back early. */
    public void release() throws LinuxException {
        block().ack(AckWord.of(TurnWord.epoch(block().turn()), AckWord.RELEASED));
        ring();
    }

    /** Returns whether its gate is open. */
    public boolean isOpen() {
        return AckWord.state(block().ack()) == AckWord.OPEN;
    }

    /** Reads what has arrived and answers the turn word. */
    public void pump() throws Exception {
        while (!ended) {
            SocketPort.Received received;
            try {
                received = os.sockets().receiveWithDescriptor(socket, packet);
            } catch (LinuxException e) {
                ended = true; // ECONNRESET: it ended with unread packets of this client
                break;
            }
            if (received.bytes() == SocketPort.WOULD_BLOCK) {
                break;
            }
            if (received.bytes() == 0) {
                ended = true;
                break;
            }
            if (received.descriptor() != SocketPort.NO_DESCRIPTOR) {
                segment = os.files().map(received.descriptor(), SegmentLayout.SEGMENT_BYTES, true, arena);
                descriptor = received.descriptor();
            }
            said.hear(packet, received.bytes());
        }
        if (segment != null && !ended) {
            answerTurn();
        }
    }

    /** Descriptor of the segment, as the manager sent it. */
    public int descriptor = -1;

    private void answerTurn() throws LinuxException {
        long turn = block().turn();
        long ack = block().ack();
        int answer = TurnWord.state(turn) == TurnWord.CLOSED ? AckWord.CLOSED : AckWord.OPEN;
        if (AckWord.epoch(ack) == TurnWord.epoch(turn)) {
            return;
        }
        turns += TurnWord.state(turn) == TurnWord.GRANTED ? 1 : 0;
        if (answer == AckWord.OPEN) {
            block().wantSinceNs(0);
        }
        block().ack(AckWord.of(TurnWord.epoch(turn), answer));
        ring();
    }

    /** Pumps until a condition holds. */
    public void await(String what, BooleanSupplier condition) throws Exception {
        long deadlineNs = System.nanoTime() + PATIENCE_NS;
        pump();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > deadlineNs) {
                throw new AssertionError("not within 10 s: " + what + "; heard " + heard);
            }
            Thread.sleep(0, 200_000);
            pump();
        }
    }

    @Override
    public void close() throws LinuxException {
        os.sockets().close(socket);
        if (descriptor >= 0) {
            os.files().close(descriptor);
        }
        arena.close();
    }
}
