package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.DriverEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams that record. */
@Timeout(180)
class CaptureTest {
    private static final int GLOBAL = 0;
    private static final int RELAXED = 2;

    private final Port port = new Port();
    private final long add = port.function(Kernels.ADD, "add");
    private final long data = port.alloc(4 * 32);
    private final long stream = port.stream();
    private final long other = port.stream();
    private final MemorySegment out = port.arena.allocate(64, 8);

    @AfterEach
    void close() {
        port.close();
    }

    private void begin(int mode) {
        port.ok(DriverEntry.cuStreamBeginCapture_v2, stream, mode);
    }

    private long end() {
        port.ok(DriverEntry.cuStreamEndCapture, stream, out);
        return out.get(ValueLayout.JAVA_LONG, 0);
    }

    @Test
    void whatIsCapturedRunsAtEachLaunch() {
        MemorySegment source = port.pinned(128);
        begin(RELAXED);
        port.ok(DriverEntry.cuMemcpyHtoDAsync_v2, data, source, 128L, stream);
        port.launch(add, 1, 32, stream, data, 5);
        port.ok(DriverEntry.cuStreamIsCapturing, stream, out);
        assertEquals(1, out.get(ValueLayout.JAVA_INT, 0));
        long graph = end();
        MemorySegment count = port.arena.allocate(8, 8);
        port.ok(DriverEntry.cuGraphGetNodes, graph, 0, count);
        assertEquals(2, count.get(ValueLayout.JAVA_LONG, 0));
        long exec = port.made(DriverEntry.cuGraphInstantiateWithFlags, graph, 0L);
        for (int i = 0; i < 3; i++) {
            source.setAtIndex(ValueLayout.JAVA_INT, 31, 100 * i);
            port.ok(DriverEntry.cuGraphLaunch, exec, stream);
            port.ok(DriverEntry.cuStreamSynchronize, stream);
            assertEquals(100 * i + 5, port.readInts(data, 32)[31]);
        }
    }

    @Test
    void anEventTakesAnotherStreamIn() {
        long fork = port.event();
        long join = port.event();
        long second = port.alloc(128);
        begin(RELAXED);
        port.ok(DriverEntry.cuEventRecord, fork, stream);
        port.ok(DriverEntry.cuStreamWaitEvent, other, fork, 0);
        port.ok(DriverEntry.cuMemsetD32Async, data, 3, 32L, stream);
        port.ok(DriverEntry.cuMemsetD32Async, second, 4, 32L, other);
        port.fails(907, DriverEntry.cuEventQuery, fork);
        port.ok(DriverEntry.cuEventRecord, join, other);
        port.ok(DriverEntry.cuStreamWaitEvent, stream, join, 0);
        port.launch(add, 1, 32, stream, second, 5);
        MemorySegment info = port.arena.allocate(64, 8);
        port.ok(DriverEntry.cuStreamGetCaptureInfo_v3, stream, info, info.address() + 8, info.address() + 16,
                info.address() + 24, info.address() + 32, info.address() + 40);
        assertEquals(1, info.get(ValueLayout.JAVA_LONG, 40), "the kernel is the frontier");
        long exec = port.made(DriverEntry.cuGraphInstantiateWithFlags, end(), 0L);
        port.ok(DriverEntry.cuGraphLaunch, exec, stream);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(3, port.readInts(data, 32)[0]);
        assertEquals(9, port.readInts(second, 32)[0]);
    }

    @Test
    void aStreamThatIsNotJoinedIsAnError() {
        long fork = port.event();
        begin(RELAXED);
        port.ok(DriverEntry.cuEventRecord, fork, stream);
        port.ok(DriverEntry.cuStreamWaitEvent, other, fork, 0);
        port.ok(DriverEntry.cuMemsetD32Async, data, 3, 32L, other);
        port.fails(904, DriverEntry.cuStreamEndCapture, stream, out);
        port.ok(DriverEntry.cuStreamSynchronize, other);
    }

    @Test
    void waitingInvalidates() {
        begin(RELAXED);
        port.fails(900, DriverEntry.cuStreamSynchronize, stream);
        port.fails(901, DriverEntry.cuMemsetD32Async, data, 3, 32L, stream);
        port.fails(901, DriverEntry.cuStreamEndCapture, stream, out);
        port.fails(401, DriverEntry.cuStreamEndCapture, stream, out);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
    }

    @Test
    void modesGuardAgainstAllocations() {
        begin(GLOBAL);
        port.fails(900, DriverEntry.cuMemAlloc_v2, out, 8L);
        port.fails(901, DriverEntry.cuStreamEndCapture, stream, out);
        begin(RELAXED);
        port.ok(DriverEntry.cuMemAlloc_v2, out, 8L);
        // A thread guards against itself unless it said that it will not.
        end();
    }

    @Test
    void theLegacyStreamCannotCapture() {
        port.fails(900, DriverEntry.cuStreamBeginCapture_v2, 0, RELAXED);
        long blocking = port.made(DriverEntry.cuStreamCreate, 0);
        port.ok(DriverEntry.cuStreamBeginCapture_v2, blocking, RELAXED);
        port.fails(906, DriverEntry.cuMemsetD32Async, data, 3, 32L, 0);
        port.fails(901, DriverEntry.cuStreamEndCapture, blocking, out);
    }

    @Test
    void asynchronousMemoryBecomesNodes() {
        begin(RELAXED);
        long memory = port.made(DriverEntry.cuMemAllocAsync, 128L, stream);
        port.ok(DriverEntry.cuMemsetD32Async, memory, 6, 32L, stream);
        port.ok(DriverEntry.cuMemcpyDtoDAsync_v2, data, memory, 128L, stream);
        port.ok(DriverEntry.cuMemFreeAsync, memory, stream);
        long exec = port.made(DriverEntry.cuGraphInstantiateWithFlags, end(), 0L);
        for (int i = 0; i < 2; i++) {
            port.ok(DriverEntry.cuGraphLaunch, exec, stream);
            port.ok(DriverEntry.cuStreamSynchronize, stream);
            assertEquals(6, port.readInts(data, 32)[5]);
        }
    }

    @Test
    void wordsCanBeCaptured() {
        MemorySegment words = port.pinned(32);
        begin(RELAXED);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, stream, words, 1L, 0);
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, words, 0L, 1);
        long exec = port.made(DriverEntry.cuGraphInstantiateWithFlags, end(), 0L);
        for (int i = 0; i < 2; i++) {
            port.ok(DriverEntry.cuGraphLaunch, exec, stream);
            port.fails(600, DriverEntry.cuStreamQuery, stream);
            assertEquals(1, words.get(ValueLayout.JAVA_LONG, 0));
            words.set(ValueLayout.JAVA_LONG, 0, 0);
            port.ok(DriverEntry.cuStreamSynchronize, stream);
        }
    }
}
