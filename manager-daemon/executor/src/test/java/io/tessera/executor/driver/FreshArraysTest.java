package io.tessera.executor.driver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.tessera.device.DriverEntry;
import io.tessera.device.DriverOptions;
import io.tessera.device.DriverPort;
import io.tessera.software.driver.SoftwareDriverProvider;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that arrays with old contents are zeroed completely, on the software GPU. */
@Timeout(180)
class FreshArraysTest {
    private static final int HOST = 1;
    private static final int ARRAY = 3;
    private static final int UNSIGNED_8 = 1;
    private static final int UNSIGNED_32 = 3;
    private static final int LAYERED = 1;

    private final Arena arena = Arena.ofShared();
    private DriverPort port;
    private DriverCalls calls;
    private DeviceContext device;

    @BeforeEach
    void open() throws Exception {
        port = new SoftwareDriverProvider().open(new DriverOptions(0, 256L << 20));
        device = DeviceContext.open(port, 0);
        calls = new DriverCalls(port, arena);
    }

    @AfterEach
    void close() {
        port.close();
        arena.close();
    }

    private long array(long width, long height, long depth, int format, int channels, int flags) {
        MemorySegment shape = arena.allocate(40, 8);
        shape.set(ValueLayout.JAVA_LONG, 0, width);
        shape.set(ValueLayout.JAVA_LONG, 8, height);
        shape.set(ValueLayout.JAVA_LONG, 16, depth);
        shape.set(ValueLayout.JAVA_INT, 24, format);
        shape.set(ValueLayout.JAVA_INT, 28, channels);
        shape.set(ValueLayout.JAVA_INT, 32, flags);
        assertEquals(0, calls.call(DriverEntry.cuArray3DCreate_v2, calls.out(0), shape.address()));
        return calls.outLong(0);
    }

    private void copy(MemorySegment host, long array, boolean in, long rowBytes, long rows, long planes) {
        MemorySegment copy = arena.allocate(200, 8);
        int linear = in ? 0 : 88;
        int other = in ? 88 : 0;
        copy.set(ValueLayout.JAVA_INT, linear + 32, HOST);
        copy.set(ValueLayout.JAVA_LONG, linear + 40, host.address());
        copy.set(ValueLayout.JAVA_LONG, linear + 72, rowBytes);
        copy.set(ValueLayout.JAVA_LONG, linear + 80, rows);
        copy.set(ValueLayout.JAVA_INT, other + 32, ARRAY);
        copy.set(ValueLayout.JAVA_LONG, other + 56, array);
        copy.set(ValueLayout.JAVA_LONG, 176, rowBytes);
        copy.set(ValueLayout.JAVA_LONG, 184, rows);
        copy.set(ValueLayout.JAVA_LONG, 192, planes);
        assertEquals(0, calls.call(DriverEntry.cuMemcpy3D_v2, copy.address()));
    }

    private void check(long array, long rowBytes, long rows, long planes) {
        MemorySegment host = arena.allocate(rowBytes * rows * planes, 8).fill((byte) 0x5a);
        copy(host, array, true, rowBytes, rows, planes);
        AtomicInteger ended = new AtomicInteger();
        assertEquals(0, device.arrays().zero(calls, array, rowBytes, rows, planes, _ -> ended.incrementAndGet()));
        assertEquals(0, ended.get());
        host.fill((byte) 0x77);
        copy(host, array, false, rowBytes, rows, planes);
        assertEquals(-1, host.mismatch(MemorySegment.ofArray(new byte[Math.toIntExact(host.byteSize())])));
    }

    @Test
    void allBytesOfEveryShapeAreZero() {
        check(array(1000, 0, 0, UNSIGNED_8, 1, 0), 1000, 1, 1);
        check(array(127, 33, 0, UNSIGNED_32, 4, 0), 127 * 16, 33, 1);
        check(array(31, 17, 5, UNSIGNED_32, 2, 0), 31 * 8, 17, 5);
        check(array(31, 17, 5, UNSIGNED_8, 4, LAYERED), 31 * 4, 17, 5);
    }

    @Test
    void arraysLargerThanTheZerosTakeSeveralCopies() {
        long rows = FreshArrays.ZEROS_BYTES / (1000 * 16) * 2 + 3;
        check(array(1000, rows, 0, UNSIGNED_32, 4, 0), 16_000, rows, 1);
        check(array(512, 300, 37, UNSIGNED_32, 1, 0), 2048, 300, 37);
    }

    @Test
    void arrayThatCannotBeZeroedIsEnded() {
        long array = array(16, 16, 0, UNSIGNED_8, 1, 0);
        AtomicInteger ended = new AtomicInteger();
        assertNotEquals(0, device.arrays().zero(calls, array, 32, 16, 1, _ -> ended.incrementAndGet()));
        assertEquals(1, ended.get());
    }
}
