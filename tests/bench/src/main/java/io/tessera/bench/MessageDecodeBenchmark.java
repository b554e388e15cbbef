package io.tessera.bench;

import io.tessera.protocol.DeviceUuid;
import io.tessera.protocol.MemoryPlan;
import io.tessera.protocol.message.ClientMessageAdapter;
import io.tessera.protocol.message.ClientMessageListener;
import io.tessera.protocol.message.DeviceAnnouncement;
import io.tessera.protocol.message.FenceWish;
import io.tessera.protocol.message.Hello;
import io.tessera.protocol.message.MalformedMessageException;
import io.tessera.protocol.message.MessageEncoder;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Decoding of clients' messages: the doorbell, which comes with every turn, and the longest message. One thread. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class MessageDecodeBenchmark {
    /** Room for the longest message of the protocol. */
    private static final int PACKET_BYTES = 512;

    private final LastMessage listener = new LastMessage();
    private Arena arena;
    private MemorySegment doorbell;
    private int doorbellBytes;
    private MemorySegment hello;
    private int helloBytes;

    /** Encodes one message of each kind. */
    @Setup
    public void encode() {
        arena = Arena.ofConfined();
        doorbell = arena.allocate(PACKET_BYTES, 8);
        doorbellBytes = MessageEncoder.doorbell(doorbell, 3);
        hello = arena.allocate(PACKET_BYTES, 8);
        helloBytes = MessageEncoder.hello(hello,
                new Hello(4711, MemoryPlan.PLAIN, 123_456L, 8L << 30, "tenant-of-a-training", "python3"));
    }

    /** Frees the packets. */
    @TearDown
    public void close() {
        arena.close();
    }

    /** A doorbell. */
    @Benchmark
    public Object decodeDoorbell() throws MalformedMessageException {
        ClientMessageAdapter.dispatch(doorbell, doorbellBytes, listener);
        return listener.slot;
    }

    /** The registration, with its two texts. */
    @Benchmark
    public Object decodeHello() throws MalformedMessageException {
        ClientMessageAdapter.dispatch(hello, helloBytes, listener);
        return listener.hello;
    }

    /** Encoding a doorbell, for comparison: the manager sends one with every order. */
    @Benchmark
    public int encodeDoorbell() {
        return MessageEncoder.doorbell(doorbell, 3);
    }

    /** Keeps the latest message, so that the decoder's result is used. */
    private static final class LastMessage implements ClientMessageListener {
        private Hello hello;
        private DeviceUuid uuid;
        private int slot;
        private long bytes;

        @Override
        public void onHello(Hello message) {
            hello = message;
        }

        @Override
        public void onDevice(DeviceAnnouncement device) {
            uuid = device.uuid();
        }

        @Override
        public void onDoorbell(int changedSlot) {
            slot = changedSlot;
        }

        @Override
        public void onQuotaAsk(int askedSlot, long askedBytes) {
            slot = askedSlot;
            bytes = askedBytes;
        }

        @Override
        public void onQuotaReturn(int returnedSlot, long grantedBytes) {
            slot = returnedSlot;
            bytes = grantedBytes;
        }

        @Override
        public void onSharingAsk(String tenant) {
            bytes = tenant.length();
        }

        @Override
        public void onRelayAsk(FenceWish wish) {
            slot = -1;
        }

        @Override
        public String toString() {
            return hello + " " + uuid + " " + slot + " " + bytes;
        }
    }
}
