package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tessera.device.DriverEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** CUDA arrays and copies of them. */
@Timeout(180)
class ArraysTest {
    private final Port port = new Port();

    @AfterEach
    void close() {
        port.close();
    }

    private MemorySegment descriptor(long width, long height, int format) {
        MemorySegment descriptor = port.arena.allocate(24, 8);
        descriptor.set(ValueLayout.JAVA_LONG, 0, width);
        descriptor.set(ValueLayout.JAVA_LONG, 8, height);
        descriptor.set(ValueLayout.JAVA_INT, 16, format);
        descriptor.set(ValueLayout.JAVA_INT, 20, 1);
        return descriptor;
    }

    @Test
    void whatGoesInComesOut() {
        long array = port.made(DriverEntry.cuArrayCreate_v2, descriptor(5, 0, 3));
        port.ok(DriverEntry.cuMemcpyHtoA_v2, array, 4L, port.ints(1, 2, 3), 12L);
        long data = port.alloc(20);
        port.ok(DriverEntry.cuMemsetD32_v2, data, 9, 5L);
        port.ok(DriverEntry.cuMemcpyAtoD_v2, data, array, 4L, 12L);
        assertArrayEquals(new int[] {1, 2, 3, 9, 9}, port.readInts(data, 5));
        port.fails(1, DriverEntry.cuMemcpyAtoD_v2, data, array, 12L, 12L);
        MemorySegment told = port.arena.allocate(40, 8);
        port.ok(DriverEntry.cuArray3DGetDescriptor_v2, told, array);
        assertEquals(5, told.get(ValueLayout.JAVA_LONG, 0));
        assertEquals(3, told.get(ValueLayout.JAVA_INT, 24));
        port.ok(DriverEntry.cuArrayDestroy, array);
        port.fails(400, DriverEntry.cuArrayDestroy, array);
        port.fails(1, DriverEntry.cuArrayCreate_v2, told, descriptor(0, 0, 3));
        port.fails(1, DriverEntry.cuArrayCreate_v2, told, descriptor(5, 0, 77));
    }

    /** A sum of begin and size that wraps is smaller than every array. */
    @Test
    void boxesThatBeginTooFarAwayAreRefused() {
        long array = port.made(DriverEntry.cuArrayCreate_v2, descriptor(4, 2, 3));
        long data = port.alloc(32);
        MemorySegment plane = port.arena.allocate(128, 8);
        plane.set(ValueLayout.JAVA_INT, 16, 3);
        plane.set(ValueLayout.JAVA_LONG, 40, array);
        plane.set(ValueLayout.JAVA_INT, 72, 2);
        plane.set(ValueLayout.JAVA_LONG, 88, data);
        plane.set(ValueLayout.JAVA_LONG, 104, 16);
        plane.set(ValueLayout.JAVA_LONG, 112, 16);
        plane.set(ValueLayout.JAVA_LONG, 120, 2);
        port.ok(DriverEntry.cuMemcpy2D_v2, plane);
        for (long far : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 1, Long.MIN_VALUE, -2}) {
            for (int at : new int[] {0, 8, 112, 120}) {
                long was = plane.get(ValueLayout.JAVA_LONG, at);
                plane.set(ValueLayout.JAVA_LONG, at, far);
                port.fails(1, DriverEntry.cuMemcpy2D_v2, plane);
                plane.set(ValueLayout.JAVA_LONG, at, was);
            }
            port.fails(1, DriverEntry.cuMemcpyAtoD_v2, data, array, far, 8L);
        }
        port.ok(DriverEntry.cuMemcpy2D_v2, plane);
    }

    @Test
    void kernelsReadThroughTextures() {
        long array = port.made(DriverEntry.cuArrayCreate_v2, descriptor(4, 0, 3));
        port.ok(DriverEntry.cuMemcpyHtoA_v2, array, 0L, port.ints(10, 20, 30, 40), 16L);
        MemorySegment resource = port.arena.allocate(144, 8);
        resource.set(ValueLayout.JAVA_LONG, 8, array);
        MemorySegment texture = port.arena.allocate(104, 8);
        texture.set(ValueLayout.JAVA_INT, 0, 1);
        texture.set(ValueLayout.JAVA_INT, 16, 1);
        long object = port.made(DriverEntry.cuTexObjectCreate, resource, texture, 0);
        long data = port.alloc(4 * 6);
        port.launch(port.function(Kernels.TEXTURE, "fetch"), 1, 6, 0, data, object);
        assertArrayEquals(new int[] {10, 20, 30, 40}, Arrays.copyOf(port.readInts(data, 6), 4));
        port.fails(1, DriverEntry.cuSurfObjectCreate, resource, resource);
        port.ok(DriverEntry.cuTexObjectDestroy, object);
        port.fails(400, DriverEntry.cuTexObjectDestroy, object);
    }
}
