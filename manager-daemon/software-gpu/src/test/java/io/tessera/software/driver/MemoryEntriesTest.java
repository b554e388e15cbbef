package io.tessera.software.driver;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.device.DriverEntry;
import io.tessera.software.driver.abi.StructLayouts.Memcpy3D;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Allocation, copies, fills, pools, virtual memory. */
@Timeout(180)
class MemoryEntriesTest {
    private final Port port = new Port();
    private final MemorySegment out = port.arena.allocate(64, 8);

    @AfterEach
    void close() {
        port.close();
    }

    private long free() {
        port.ok(DriverEntry.cuMemGetInfo_v2, out, out.address() + 8);
        return out.get(ValueLayout.JAVA_LONG, 0);
    }

    @Test
    void whatIsFreedComesBack() {
        long before = free();
        long data = port.alloc(64 << 20);
        assertEquals(before - (64 << 20), free());
        port.ok(DriverEntry.cuMemFree_v2, data);
        assertEquals(before, free());
        port.fails(1, DriverEntry.cuMemFree_v2, data);
        port.fails(1, DriverEntry.cuMemAlloc_v2, out, 0L);
        port.fails(2, DriverEntry.cuMemAlloc_v2, out, Port.MEMORY_BYTES + 1);
        port.fails(2, DriverEntry.cuMemAlloc_v2, out, Long.MAX_VALUE);
        port.ok(DriverEntry.cuMemFree_v2, 0L);
    }

    @Test
    void memoryInUseIsFreedWhenTheWorkHasEnded() {
        MemorySegment word = port.pinned(8);
        long stream = port.stream();
        long data = port.alloc(200L << 20);
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, word, 1L, 0);
        port.ok(DriverEntry.cuMemsetD8Async, data, 1, 200L << 20, stream);
        port.ok(DriverEntry.cuMemFree_v2, data);
        port.fails(1, DriverEntry.cuMemsetD8_v2, data, 1, 8L);
        Thread.ofPlatform().start(() -> {
            try {
                Thread.sleep(50);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            word.set(ValueLayout.JAVA_LONG, 0, 1);
        });
        port.alloc(200L << 20);
    }

    @Test
    void addressesAreKnownFromTheMiddle() {
        long data = port.alloc(1000);
        port.ok(DriverEntry.cuMemGetAddressRange_v2, out, out.address() + 8, data + 999);
        assertEquals(data, out.get(ValueLayout.JAVA_LONG, 0));
        assertEquals(1000, out.get(ValueLayout.JAVA_LONG, 8));
        port.fails(500, DriverEntry.cuMemGetAddressRange_v2, out, out, data + 1000);
        port.ok(DriverEntry.cuPointerGetAttribute, out, 2, data + 5);
        assertEquals(2, out.get(ValueLayout.JAVA_INT, 0));
        port.fails(1, DriverEntry.cuPointerGetAttribute, out, 2, out);
        port.ok(DriverEntry.cuPointerGetAttribute, out, 2, port.pinned(8));
        assertEquals(1, out.get(ValueLayout.JAVA_INT, 0));
    }

    @Test
    void copiesStayInside() {
        long data = port.alloc(16);
        MemorySegment host = port.ints(1, 2, 3, 4, 5);
        port.fails(1, DriverEntry.cuMemcpyHtoD_v2, data, host, 20L);
        port.ok(DriverEntry.cuMemcpyHtoD_v2, data, host, 16L);
        assertArrayEquals(new int[] {1, 2, 3, 4}, port.readInts(data, 4));
        port.fails(1, DriverEntry.cuMemcpyHtoD_v2, 0L, host, 16L);
        port.ok(DriverEntry.cuMemcpyHtoD_v2, 0L, host, 0L);
        long twin = port.alloc(16);
        port.ok(DriverEntry.cuMemcpyDtoD_v2, twin, data + 4, 12L);
        port.ok(DriverEntry.cuMemcpy, out, twin, 12L);
        assertEquals(4, out.get(ValueLayout.JAVA_INT, 8));
    }

    @Test
    void pageableMemoryIsReadBeforeTheEntryReturns() {
        MemorySegment word = port.pinned(8);
        MemorySegment host = port.ints(7, 7, 7, 7);
        long data = port.alloc(16);
        long stream = port.stream();
        port.ok(DriverEntry.cuStreamWaitValue64_v2, stream, word, 1L, 0);
        port.ok(DriverEntry.cuMemcpyHtoDAsync_v2, data, host, 16L, stream);
        host.fill((byte) 0);
        word.set(ValueLayout.JAVA_LONG, 0, 1);
        port.ok(DriverEntry.cuMemcpyDtoHAsync_v2, out, data, 16L, stream);
        assertEquals(7, out.get(ValueLayout.JAVA_INT, 12));
    }

    @Test
    void rowsAndSlices() {
        MemorySegment pitchOut = port.arena.allocate(8, 8);
        long data = port.made(DriverEntry.cuMemAllocPitch_v2, pitchOut, 12L, 3L, 4);
        long pitch = pitchOut.get(ValueLayout.JAVA_LONG, 0);
        assertEquals(512, pitch);
        port.ok(DriverEntry.cuMemsetD2D32_v2, data, pitch, 9, 3L, 3L);
        MemorySegment host = port.arena.allocate(4 * 4 * 3, 8);
        MemorySegment copy = port.arena.allocate(128, 8);
        copy.set(ValueLayout.JAVA_INT, 16, 2);
        copy.set(ValueLayout.JAVA_LONG, 32, data);
        copy.set(ValueLayout.JAVA_LONG, 48, pitch);
        copy.set(ValueLayout.JAVA_LONG, 56, 4);
        copy.set(ValueLayout.JAVA_INT, 72, 1);
        copy.set(ValueLayout.JAVA_LONG, 80, host.address());
        copy.set(ValueLayout.JAVA_LONG, 104, 16);
        copy.set(ValueLayout.JAVA_LONG, 112, 12);
        copy.set(ValueLayout.JAVA_LONG, 120, 3);
        port.ok(DriverEntry.cuMemcpy2D_v2, copy);
        assertArrayEquals(new int[] {0, 9, 9, 9, 0, 9, 9, 9, 0, 9, 9, 9}, host.toArray(ValueLayout.JAVA_INT));
        copy.set(ValueLayout.JAVA_LONG, 120, 4);
        port.fails(1, DriverEntry.cuMemcpy2D_v2, copy);
    }

    @Test
    void fillsOfEverySize() {
        long data = port.alloc(64);
        port.ok(DriverEntry.cuMemsetD8_v2, data, 1, 64L);
        port.ok(DriverEntry.cuMemsetD16_v2, data, 0x0203, 7L);
        port.ok(DriverEntry.cuMemsetD32_v2, data + 16, 0x04050607, 3L);
        assertArrayEquals(new int[] {0x02030203, 0x02030203, 0x02030203, 0x01010203, 0x04050607, 0x04050607,
                0x04050607, 0x01010101}, port.readInts(data, 8));
        port.fails(1, DriverEntry.cuMemsetD32_v2, data + 2, 1, 1L);
        port.fails(1, DriverEntry.cuMemsetD32_v2, data, 1, 17L);
    }

    @Test
    void streamOrderedMemory() {
        long stream = port.stream();
        long before = free();
        for (int i = 0; i < 20; i++) {
            long data = port.made(DriverEntry.cuMemAllocAsync, 200L << 20, stream);
            port.ok(DriverEntry.cuMemsetD8Async, data, i, 64L, stream);
            port.ok(DriverEntry.cuMemFreeAsync, data, stream);
        }
        port.ok(DriverEntry.cuStreamSynchronize, stream);
        assertEquals(before, free());
        long pool = port.made(DriverEntry.cuDeviceGetDefaultMemPool, 0);
        port.ok(DriverEntry.cuMemPoolGetAttribute, pool, 8, out);
        assertTrue(out.get(ValueLayout.JAVA_LONG, 0) >= 200L << 20);
        port.ok(DriverEntry.cuMemPoolGetAttribute, pool, 7, out);
        assertEquals(0, out.get(ValueLayout.JAVA_LONG, 0));
    }

    @Test
    void theProgramsOwnVirtualMemory() {
        MemorySegment properties = port.arena.allocate(32, 8);
        properties.set(ValueLayout.JAVA_INT, 0, 1);
        properties.set(ValueLayout.JAVA_INT, 8, 1);
        long granule = port.made(DriverEntry.cuMemGetAllocationGranularity, properties, 0);
        long range = port.made(DriverEntry.cuMemAddressReserve, 4 * granule, 0L, 0L, 0L);
        long memory = port.made(DriverEntry.cuMemCreate, granule, properties, 0L);
        port.ok(DriverEntry.cuMemMap, range + granule, granule, 0L, memory, 0L);
        port.ok(DriverEntry.cuMemMap, range + 2 * granule, granule, 0L, memory, 0L);
        MemorySegment access = port.arena.allocate(12, 4);
        access.set(ValueLayout.JAVA_INT, 0, 1);
        access.set(ValueLayout.JAVA_INT, 8, 3);
        port.ok(DriverEntry.cuMemSetAccess, range + granule, 2 * granule, access, 1L);
        port.launch(port.function(Kernels.STORE, "store"), 1, 1, 0, range + granule + 8, 55);
        assertEquals(55, port.readInts(range + 2 * granule + 8, 1)[0], "the same memory at two addresses");
        long again = port.made(DriverEntry.cuMemRetainAllocationHandle, range + granule);
        assertEquals(memory, again);
        port.ok(DriverEntry.cuMemRelease, memory);
        port.ok(DriverEntry.cuMemRelease, memory);
        port.fails(1, DriverEntry.cuMemRelease, memory);
        port.fails(1, DriverEntry.cuMemAddressFree, range, 4 * granule);
        long late = port.made(DriverEntry.cuMemRetainAllocationHandle, range + granule);
        port.ok(DriverEntry.cuMemUnmap, range + granule, 2 * granule);
        port.ok(DriverEntry.cuMemMap, range, granule, 0L, late, 0L);
        port.ok(DriverEntry.cuMemSetAccess, range, granule, access, 1L);
        assertEquals(55, port.readInts(range + 8, 1)[0], "memory whose handles were all released");
        port.ok(DriverEntry.cuMemRelease, late);
        port.ok(DriverEntry.cuMemUnmap, range, granule);
        port.ok(DriverEntry.cuMemAddressFree, range, 4 * granule);
        properties.set(ValueLayout.JAVA_INT, 4, 1);
        port.fails(801, DriverEntry.cuMemCreate, out, granule, properties, 0L);
    }

    @Test
    void registeredHostMemoryIsTheDevicesToo() {
        MemorySegment host = port.arena.allocate(4096, 4096);
        port.ok(DriverEntry.cuMemHostRegister_v2, host, 4096L, 0);
        port.fails(712, DriverEntry.cuMemHostRegister_v2, host.address() + 1024, 64L, 0);
        assertEquals(host.address(), port.made(DriverEntry.cuMemHostGetDevicePointer_v2, host, 0));
        port.launch(port.function(Kernels.STORE, "store"), 1, 1, 0, host.address() + 40, 5);
        port.ok(DriverEntry.cuCtxSynchronize);
        assertEquals(5, host.get(ValueLayout.JAVA_INT, 40));
        port.ok(DriverEntry.cuMemHostUnregister, host);
        port.fails(713, DriverEntry.cuMemHostUnregister, host);
        port.launch(port.function(Kernels.STORE, "store"), 1, 1, 0, host.address(), 5);
        port.fails(700, DriverEntry.cuCtxSynchronize);
    }

    /** Products of 64 bits that come out small. */
    @Test
    void sizesThatWrapAreRefused() {
        long data = port.alloc(4096);
        port.fails(1, DriverEntry.cuMemsetD32_v2, data, 5, 1L << 62);
        port.fails(1, DriverEntry.cuMemsetD2D8_v2, data, 1L << 62, 5, 1L, 5L);
        port.fails(1, DriverEntry.cuMemsetD2D8_v2, data, 1L << 32, 5, 1L << 32, 1L << 32);
        for (long rows : new long[] {1L << 60, -1, (1L << 60) - 1, 1}) {
            MemorySegment copy = port.arena.allocate(Memcpy3D.BYTES, 8);
            for (int half : new int[] {Memcpy3D.SOURCE, Memcpy3D.TARGET}) {
                copy.set(ValueLayout.JAVA_INT, half + Memcpy3D.TYPE, 2);
                copy.set(ValueLayout.JAVA_LONG, half + Memcpy3D.DEVICE, data + (half == 0 ? 0 : 2048));
                copy.set(ValueLayout.JAVA_LONG, half + Memcpy3D.PITCH, 16);
                copy.set(ValueLayout.JAVA_LONG, half + Memcpy3D.HEIGHT, rows);
            }
            copy.set(ValueLayout.JAVA_LONG, Memcpy3D.WIDTH, 8);
            copy.set(ValueLayout.JAVA_LONG, Memcpy3D.ROWS, 2);
            copy.set(ValueLayout.JAVA_LONG, Memcpy3D.DEPTH, 2);
            port.fails(1, DriverEntry.cuMemcpy3D_v2, copy);
        }
        port.ok(DriverEntry.cuCtxSynchronize);
    }
}
