package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Order in streams and between them: events, words, host functions, the legacy stream. */
@Timeout(180)
class StreamsTest {
    private static final AtomicLong CALLED_WITH = new AtomicLong();
    private static final CountDownLatch[] GATE = {new CountDownLatch(1)};

    private final Port port = new Port();
    private final MemorySegment words = port.pinned(4096);

    @AfterEach
    void close() {
        port.close();
    }

    private long word(int index) {
        return words.address() + 8L * index;
    }

    private void write(int index, long value) {
        words.setAtIndex(ValueLayout.JAVA_LONG, index, value);
    }

    private long read(int index) {
        return words.getAtIndex(ValueLayout.JAVA_LONG, index);
    }

    @Test
    void aStreamWaitsForAWordThatSomebodyElseWrites() {
        long stream = port.stream();
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, word(0), 5L, 0);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, stream, word(1), 77L, 0);
        port.fails(600, DriverEntry.cuStreamQuery, stream);
        assertEquals(0, read(1));
        write(0, 4);
        port.fails(600, DriverEntry.cuStreamQuery, stream);
        write(0, 6);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(77, read(1));
        port.ok(DriverEntry.cuStreamQuery, stream);
    }

    /** As on a GPU: forty kernels that wait for a word leave the processors to others, also to the one that writes the word. */
    @Test
    void kernelsThatDoNotEndKeepNoOthersFromRunning() {
        long waits = port.function(Kernels.AWAIT, "await");
        long stores = port.function(Kernels.STORE, "store");
        long awaited = port.alloc(4);
        long other = port.alloc(4);
        port.ok(DriverEntry.cuMemsetD32_v2, awaited, 0, 1L);
        for (int i = 0; i < 40; i++) {
            port.launch(waits, 1, 1, port.stream(), awaited);
        }
        long stream = port.stream();
        for (int i = 1; i <= 20; i++) {
            port.launch(stores, 1, 1, stream, other, i);
            port.ok(DriverEntry.cuStreamSynchronize, stream);
        }
        assertEquals(20, port.readInts(other, 1)[0]);
        port.launch(stores, 1, 1, stream, awaited, 1);
        port.ok(DriverEntry.cuCtxSynchronize);
    }

    @ParameterizedTest
    @CsvSource({"0, 5, 4, 5", "0, -1, -2, 0", "1, 5, 6, 5", "2, 6, 9, 2", "3, 5, -1, 250"})
    void conditionsAreThoseOfTheInterface(int flags, long expected, long not, long yes) {
        long stream = port.stream();
        write(0, not);
        port.ok(DriverEntry.cuStreamWaitValue32_v2, stream, word(0), expected, flags);
        port.ok(DriverEntry.cuStreamWriteValue32_v2, stream, word(1), 1, 0);
        assertEquals(0, read(1));
        port.fails(600, DriverEntry.cuStreamQuery, stream);
        write(0, yes);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(1, read(1));
    }

    @Test
    void wordsThatNobodyRegisteredAreRefused() {
        port.fails(1, DriverEntry.cuStreamWaitValue64_v2, port.stream(), port.arena.allocate(8, 8), 1L, 0);
        port.fails(1, DriverEntry.cuStreamWriteValue64_v2, port.stream(), word(0) + 4, 1L, 0);
    }

    @Test
    void aBatchIsDoneInOrder() {
        long stream = port.stream();
        MemorySegment batch = port.arena.allocate(48 * 3, 8);
        operation(batch, 0, 5, word(0), 1);
        operation(batch, 1, 4, word(1), 1);
        operation(batch, 2, 5, word(2), 3);
        port.ok(DriverEntry.cuStreamBatchMemOp_v2, stream, 3, batch, 0);
        assertEquals(1, read(0));
        assertEquals(0, read(2));
        write(1, 1);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(3, read(2));
    }

    private static void operation(MemorySegment batch, int index, int kind, long address, long value) {
        MemorySegment slot = batch.asSlice(48L * index, 48);
        slot.set(ValueLayout.JAVA_INT, 0, kind);
        slot.set(ValueLayout.JAVA_LONG, 8, address);
        slot.set(ValueLayout.JAVA_LONG, 16, value);
    }

    @Test
    void eventsOrderStreams() {
        long first = port.stream();
        long second = port.stream();
        long event = port.event();
        port.ok(DriverEntry.cuStreamWaitValue64_v2, first, word(0), 1L, 0);
        port.ok(DriverEntry.cuEventRecord, event, first);
        port.ok(DriverEntry.cuStreamWaitEvent, second, event, 0);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, second, word(1), 9L, 0);
        port.fails(600, DriverEntry.cuEventQuery, event);
        port.fails(600, DriverEntry.cuStreamQuery, second);
        assertEquals(0, read(1));
        write(0, 1);
        port.ok(DriverEntry.cuStreamSynchronize, second);
        port.ok(DriverEntry.cuEventQuery, event);
        assertEquals(9, read(1));
    }

    @Test
    void eventsTellTimes() throws InterruptedException {
        long begin = port.event();
        long end = port.event();
        long stream = port.stream();
        MemorySegment out = port.arena.allocate(4, 4);
        port.fails(400, DriverEntry.cuEventElapsedTime_v2, out, begin, end);
        port.ok(DriverEntry.cuEventRecord, begin, stream);
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, word(0), 1L, 0);
        port.ok(DriverEntry.cuEventRecord, end, stream);
        port.fails(600, DriverEntry.cuEventElapsedTime_v2, out, begin, end);
        Thread.sleep(20);
        write(0, 1);
        port.ok(DriverEntry.cuEventSynchronize, end);
        port.ok(DriverEntry.cuEventElapsedTime_v2, out, begin, end);
        float millis = out.get(ValueLayout.JAVA_FLOAT, 0);
        assertTrue(millis >= 19 && millis < 10_000, millis + " ms");
        port.fails(801, DriverEntry.cuEventCreate, out, 6);
    }

    @Test
    void theLegacyStreamAndBlockingStreamsWaitForEachOther() {
        long blocking = port.made(DriverEntry.cuStreamCreate, 0);
        long other = port.made(DriverEntry.cuStreamCreate, 0);
        long free = port.stream();
        port.ok(DriverEntry.cuStreamWaitValue64_v2, blocking, word(0), 1L, 0);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, 0, word(1), 1L, 0);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, other, word(2), 1L, 0);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, free, word(3), 1L, 0);
        port.ok(DriverEntry.cuStreamSynchronize, free);
        assertEquals(1, read(3));
        port.fails(600, DriverEntry.cuStreamQuery, 0);
        port.fails(600, DriverEntry.cuStreamQuery, other);
        assertEquals(0, read(1) + read(2));
        write(0, 1);
        port.ok(DriverEntry.cuCtxSynchronize);
        assertEquals(2, read(1) + read(2));
    }

    @Test
    void manyShortOperationsDoNotRunOutOfStack() {
        long stream = port.stream();
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, word(0), 1L, 0);
        for (int i = 1; i <= 20_000; i++) {
            port.ok(DriverEntry.cuStreamWriteValue64_v2, stream, word(1), (long) i, 0);
        }
        write(0, 1);
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(20_000, read(1));
    }

    static void called(MemorySegment data) {
        CALLED_WITH.set(data.address());
        try {
            GATE[0].await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void hostFunctionsRunInOrder() throws ReflectiveOperationException {
        GATE[0] = new CountDownLatch(1);
        MemorySegment function = Linker.nativeLinker().upcallStub(MethodHandles.lookup().findStatic(StreamsTest.class,
                "called", MethodType.methodType(void.class, MemorySegment.class)),
                FunctionDescriptor.ofVoid(ValueLayout.ADDRESS), Arena.global());
        long stream = port.stream();
        port.ok(DriverEntry.cuLaunchHostFunc, stream, function, 4711L);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, stream, word(0), 1L, 0);
        port.fails(600, DriverEntry.cuStreamQuery, stream);
        assertEquals(0, read(0));
        GATE[0].countDown();
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(1, read(0));
        assertEquals(4711, CALLED_WITH.get());
    }

    @Test
    void kernelsOfAStreamFollowEachOther() {
        long function = port.function(Kernels.ADD, "add");
        long data = port.alloc(4 * 128);
        port.ok(DriverEntry.cuMemsetD32_v2, data, 0, 128L);
        long stream = port.stream();
        port.ok(DriverEntry.cuCtxSynchronize);
        for (int i = 0; i < 50; i++) {
            port.launch(function, 2, 64, stream, data, 3);
        }
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(150, port.readInts(data, 128)[127]);
    }

    @Test
    void aDestroyedStreamsWorkGoesOn() {
        long stream = port.stream();
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, word(0), 1L, 0);
        port.ok(DriverEntry.cuStreamWriteValue64_v2, stream, word(1), 1L, 0);
        port.ok(DriverEntry.cuStreamDestroy_v2, stream);
        port.fails(400, DriverEntry.cuStreamQuery, stream);
        write(0, 1);
        port.ok(DriverEntry.cuCtxSynchronize);
        assertEquals(1, read(1));
    }
}
