package io.tessera.software.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Allocation, mapping and access rules of device memory. */
@Timeout(120)
class DeviceMemoryTest {
    private static final long MIB = 1 << 20;
    private static final long PIECE = DeviceMemory.PHYSICAL_GRANULARITY;

    private final DeviceMemory memory = new DeviceMemory(64 * MIB);

    @AfterEach
    void close() {
        memory.close();
    }

    @Test
    void allocationsAreAlignedZeroAndAccessible() {
        long small = memory.allocate(1);
        long large = memory.allocate(3 * MIB, 1 << 16, AddressKind.CONST);
        assertEquals(0, small % 512);
        assertEquals(0, large % (1 << 16));
        assertEquals(AddressKind.GLOBAL, memory.map().kindOf(small));
        assertEquals(AddressKind.CONST, memory.map().kindOf(large + 3 * MIB - 1));
        assertEquals(AddressKind.NONE, memory.map().kindOf(large + 3 * MIB + 512));
        assertEquals(64 * MIB - 512 - 3 * MIB, memory.freeBytes());
        assertEquals(new MemoryBlock(large, 3 * MIB), memory.find(large + 5).orElseThrow());
        RealMemory.putLong(small, -1);
        assertTrue(memory.free(small));
        assertFalse(memory.free(small), "freed twice");
        assertEquals(0, RealMemory.getLong(memory.allocate(8)), "what was there before is gone");
    }

    @Test
    void freedNeighboursAreJoined() {
        long seed = 11;
        Random random = new Random(seed);
        List<Long> live = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            if (live.size() < 50 || random.nextBoolean()) {
                live.add(memory.allocate(1 + random.nextInt(20_000)));
            } else {
                assertTrue(memory.free(live.remove(random.nextInt(live.size()))), "seed " + seed);
            }
            if (live.size() > 400) {
                live.forEach(memory::free);
                live.clear();
            }
        }
        live.forEach(memory::free);
        assertEquals(64 * MIB, memory.freeBytes());
        memory.free(memory.allocate(64 * MIB));
    }

    @Test
    void capacityIsALimit() {
        long first = memory.allocate(60 * MIB);
        OutOfDeviceMemoryException full = assertThrows(OutOfDeviceMemoryException.class,
                () -> memory.allocate(5 * MIB));
        assertTrue(full.getMessage().contains("(--software-memory of the manager sets its size)"), full.getMessage());
        assertThrows(OutOfDeviceMemoryException.class, () -> memory.createPhysical(6 * MIB));
        memory.free(first);
        memory.allocate(64 * MIB);
    }

    @Test
    void checksTellMisalignedFromIllegal() {
        long address = memory.allocate(512);
        memory.map().checked(address + 496, 16);
        assertTrue(assertThrows(MemoryFault.class, () -> memory.map().checked(address + 4, 8)).isMisaligned());
        MemoryFault outside = assertThrows(MemoryFault.class, () -> memory.map().checked(address + 512, 4));
        assertFalse(outside.isMisaligned());
        assertEquals(address + 512, outside.address());
        assertThrows(MemoryFault.class, () -> memory.at(address, 513));
        assertEquals(512, memory.at(address, 512).byteSize());
    }

    @Test
    void oneMemoryAtTwoAddresses() {
        long range = memory.reserve(4 * PIECE, 0, 0);
        long handle = memory.createPhysical(2 * PIECE);
        memory.map(range, PIECE, PIECE, handle);
        memory.map(range + 2 * PIECE, 2 * PIECE, 0, handle);
        assertFalse(memory.map().allows(range, 4), "no access before it is granted");
        memory.setAccess(range, PIECE, true);
        memory.setAccess(range + 2 * PIECE, 2 * PIECE, true);
        assertFalse(memory.map().allows(range + PIECE, 4), "nothing is mapped there");
        RealMemory.putInt(range + 100, 4711);
        assertEquals(4711, RealMemory.getInt(range + 3 * PIECE + 100));

        assertTrue(memory.releasePhysical(handle));
        assertEquals(64 * MIB - 2 * PIECE, memory.freeBytes(), "mappings keep it");
        assertFalse(memory.releaseReservation(range, 4 * PIECE), "still mapped");
        memory.unmap(range, PIECE);
        assertFalse(memory.map().allows(range, 4));
        memory.unmap(range + 2 * PIECE, 2 * PIECE);
        assertEquals(64 * MIB, memory.freeBytes());
        assertTrue(memory.releaseReservation(range, 4 * PIECE));
    }

    /** Each needs a descriptor, of which a process may have few. */
    @Test
    void aBoundedNumberOfReleasedHandlesIsTakenBack() {
        int count = DeviceMemory.MOST_FILES_OF_RELEASED + 1;
        DeviceMemory large = new DeviceMemory(count * PIECE);
        long range = large.reserve(count * PIECE, 0, 0);
        long[] handles = new long[count];
        for (int i = 0; i < count; i++) {
            handles[i] = large.createPhysical(PIECE);
            large.map(range + i * PIECE, PIECE, 0, handles[i]);
            assertTrue(large.releasePhysical(handles[i]));
        }
        assertFalse(large.retainPhysical(handles[count - 1]), "one too many");
        assertTrue(large.retainPhysical(handles[0]));
        large.unmap(range, PIECE);
        assertEquals(0, large.freeBytes(), "the handle keeps it");
        large.map(range, PIECE, 0, handles[0]);
        assertTrue(large.releasePhysical(handles[0]));
        large.unmap(range, count * PIECE);
        assertEquals(count * PIECE, large.freeBytes());
    }

    @Test
    void mappingNeedsAFreeReservedRange() {
        long range = memory.reserve(2 * PIECE, 0, 0);
        long handle = memory.createPhysical(PIECE);
        memory.map(range, PIECE, 0, handle);
        assertThrows(IllegalArgumentException.class, () -> memory.map(range, PIECE, 0, handle));
        assertThrows(IllegalArgumentException.class, () -> memory.map(range + 2 * PIECE, PIECE, 0, handle));
        assertThrows(IllegalArgumentException.class, () -> memory.map(range + PIECE, PIECE, PIECE, handle));
        assertThrows(IllegalArgumentException.class, () -> memory.map(range + PIECE, PIECE, 0, handle + 1));
        assertThrows(IllegalArgumentException.class, () -> memory.setAccess(range, 2 * PIECE, true));
        assertThrows(IllegalArgumentException.class, () -> memory.unmap(range + PIECE, PIECE));
    }

    @Test
    void reservationTakesAHintThatIsFree() {
        long range = memory.reserve(2 * PIECE, 0, 0);
        assertTrue(memory.releaseReservation(range, 2 * PIECE));
        assertEquals(range + PIECE, memory.reserve(PIECE, 0, range + PIECE));
        assertTrue(memory.reserve(PIECE, 0, range + PIECE) != range + PIECE);
    }

    @Test
    void hostRangesHaveExactBounds() {
        DeviceMemory other = new DeviceMemory(MIB);
        long host = other.allocate(4096);
        memory.registerHost(host + 512, 1000);
        memory.registerHost(host + 2048, 8);
        assertTrue(memory.map().allows(host + 512, 4));
        assertTrue(memory.map().allows(host + 1508, 4));
        assertFalse(memory.map().allows(host + 1508, 8));
        assertFalse(memory.map().allows(host + 508, 4));
        assertTrue(memory.map().allows(host + 2048, 8));
        assertThrows(IllegalArgumentException.class, () -> memory.registerHost(host + 1500, 100));
        assertTrue(memory.unregisterHost(host + 512));
        assertFalse(memory.unregisterHost(host + 512));
        assertFalse(memory.map().allows(host + 512, 4));
        assertEquals(new MemoryBlock(host + 2048, 8), memory.find(host + 2050).orElseThrow());
        other.close();
    }

    @Test
    void smallAtomicsLeaveTheirNeighbour() {
        long address = memory.allocate(8);
        RealMemory.putInt(address, 0x11112222);
        assertEquals((short) 0x2222, RealMemory.compareAndExchangeShort(address, (short) 0x2222, (short) 0x7777));
        assertEquals((short) 0x1111, RealMemory.compareAndExchangeShort(address + 2, (short) 5, (short) 6));
        assertEquals(0x11117777, RealMemory.getInt(address));
    }

    @Test
    void oneMemoryIsMappedAllOverAFarWindow() {
        long window = 36L << 30;
        long at = MemoryMap.FAR_END - window;
        assertEquals(at, memory.reserve(window, 0, at));
        assertTrue(memory.reserve(PIECE, 0, at) != at, "it is taken");
        long sink = 16 * MIB;
        long handle = memory.createPhysical(sink);
        for (long offset = 0; offset < window; offset += sink) {
            memory.map(at + offset, sink, 0, handle);
        }
        assertFalse(memory.map().allows(at, 8), "no access yet");
        memory.setAccess(at, window, true);
        RealMemory.putLong(at + 8, 4711);
        assertEquals(4711, RealMemory.getLong(at + window - sink + 8), "all of it is one piece");
        assertTrue(memory.map().allowsRange(at + 100, window - 100));
        assertFalse(memory.map().allowsRange(at + 100, window));
        assertEquals(64 * MIB - sink, memory.freeBytes(), "and is counted once");

        long real = memory.createPhysical(PIECE);
        memory.unmap(at + sink, sink);
        assertFalse(memory.map().allows(at + sink, 1));
        memory.map(at + sink, PIECE, 0, real);
        memory.setAccess(at + sink, PIECE, true);
        assertEquals(0, RealMemory.getLong(at + sink + 8));
        assertTrue(memory.releasePhysical(real));
        assertTrue(memory.releasePhysical(handle));
        assertEquals(4711, RealMemory.getLong(at + 8), "mappings outlive handles");
        memory.unmap(at, sink);
        memory.unmap(at + sink, PIECE);
        memory.unmap(at + 2 * sink, window - 2 * sink);
        assertEquals(64 * MIB, memory.freeBytes());
        assertTrue(memory.releaseReservation(at, window));
    }
}
