package io.tessera.bench;

import io.tessera.protocol.segment.AckWord;
import io.tessera.protocol.segment.DeviceBlock;
import io.tessera.protocol.segment.SegmentLayout;
import io.tessera.protocol.segment.SubmissionKind;
import io.tessera.protocol.segment.ThreadSlot;
import io.tessera.protocol.segment.TurnWord;
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
import org.openjdk.jmh.infra.Blackhole;

/** Words of a client's segment as the manager reads and writes them. One thread; nanoseconds per operation. */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(1)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class SegmentWordsBenchmark {
    private Arena arena;
    private MemorySegment segment;
    private DeviceBlock device;
    private long epoch;

    /** Makes a segment of its own, outside any file. */
    @Setup
    public void open() {
        // Shared like the manager's own: the thread that closes the mapping is not the one that reads.
        arena = Arena.ofShared();
        segment = arena.allocate(SegmentLayout.SEGMENT_BYTES, 4096);
        device = DeviceBlock.of(segment, 0);
    }

    /** Frees it. */
    @TearDown
    public void close() {
        arena.close();
    }

    /** Reads the client's answer, as every duty cycle does for every client. */
    @Benchmark
    public long readAck() {
        return AckWord.epoch(device.ack());
    }

    /** Writes an order: the terms, then the turn word. */
    @Benchmark
    public void writeOrder() {
        device.terms(100_000_000L, 25_000_000L, 1_000_000L, DeviceBlock.FLAG_CONTENDED);
        device.turn(TurnWord.of(++epoch, TurnWord.GRANTED));
    }

    /** Reads the words that may have changed since the last cycle. */
    @Benchmark
    public void readAnswers(Blackhole sink) {
        sink.consume(device.ack());
        sink.consume(device.wantSinceNs());
        sink.consume(device.usedBytes());
        sink.consume(device.busySamples());
        sink.consume(device.samples());
        sink.consume(device.capturing());
    }

    /** Sums one kind of submission over all thread slots, as the status does. */
    @Benchmark
    public long sumSubmissions() {
        return ThreadSlot.submitted(segment, SubmissionKind.LAUNCH);
    }

    /** Sums the submissions to one device over all thread slots, as the automatic mode does. */
    @Benchmark
    public long sumDeviceSubmissions() {
        return ThreadSlot.deviceSubmissions(segment, 0);
    }
}
