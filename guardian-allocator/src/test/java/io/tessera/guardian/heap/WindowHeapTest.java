package io.tessera.guardian.heap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import org.junit.jupiter.api.Test;

/** Single decisions of the heap, each in the least case that shows it. */
class WindowHeapTest {
    private static final long MIB = 1L << 20;
    private static final long SPAN = 2 * MIB;

    private CheckedMemory memory;

    private WindowHeap heap(HeapSettings settings) {
        memory = new CheckedMemory(settings);
        return new WindowHeap(settings, memory, WindowHeap.UNLIMITED);
    }

    @Test
    void theFirstOfSeveralCommitsIsTakenBackWhenALaterOneFails() {
        WindowHeap heap = heap(HeapSettings.exact(4 * SPAN, SPAN));
        long[] spans = {heap.allocate(SPAN), heap.allocate(SPAN), heap.allocate(SPAN)};
        heap.free(spans[0]);
        heap.free(spans[2]);
        heap.trim();
        heap.free(spans[1]); // memory in the middle, none on both sides
        BitSet before = (BitSet) memory.committed.clone();
        assertEquals(1, before.cardinality());
        int[] left = {1};
        memory.yields = bytes -> left[0]-- > 0;
        HeapStatistics statistics = heap.statistics();
        assertEquals(HeapRefusal.NO_MEMORY.code(), heap.allocate(4 * SPAN));
        assertEquals(before, memory.committed);
        assertEquals(statistics, heap.statistics());
        memory.yields = bytes -> true;
        assertEquals(0, heap.allocate(4 * SPAN));
        assertEquals(4, memory.committed.cardinality());
    }

    @Test
    void memoryThatCannotBeTakenAwayIsKnownAsFree() {
        WindowHeap heap = heap(HeapSettings.exact(4 * SPAN, SPAN));
        long[] spans = {heap.allocate(SPAN), heap.allocate(SPAN), heap.allocate(SPAN)};
        heap.free(spans[0]);
        heap.free(spans[2]);
        heap.trim();
        heap.free(spans[1]);
        memory.stuck = true;
        assertThrows(IllegalStateException.class, heap::trim);
        assertEquals(SPAN, heap.statistics().committedBytes());
        int[] left = {1};
        memory.yields = bytes -> left[0]-- > 0;
        assertThrows(IllegalStateException.class, () -> heap.allocate(4 * SPAN), "the first commit stays");
        assertEquals(2 * SPAN, memory.committedBytes());
        assertEquals(2 * SPAN, heap.statistics().committedBytes());
        memory.stuck = false;
        memory.yields = bytes -> true;
        assertEquals(0, heap.allocate(4 * SPAN));
        assertEquals(4 * SPAN, heap.free(0));
        assertEquals(4 * SPAN, heap.statistics().reclaimableBytes());
        assertEquals(4 * SPAN, heap.trim());
    }

    @Test
    void growthLooksAheadAnEighthAndMakesDoWithLess() {
        WindowHeap heap = heap(HeapSettings.standard(4096 * MIB, SPAN));
        heap.allocate(SPAN);
        assertEquals(32 * MIB, memory.committedBytes(), "at least");
        heap.allocate(1000 * MIB);
        long committed = memory.committedBytes();
        heap.allocate(40 * MIB);
        assertEquals(committed / 8 / SPAN * SPAN, memory.committedBytes() - committed);
        memory.yields = bytes -> bytes <= 500 * MIB;
        assertTrue(heap.allocate(500 * MIB) >= 0, "the exact part was to be had");
        assertEquals(0, heap(HeapSettings.standard(64 * MIB, SPAN)).allocate(1), "and a range may be less than a step");
    }

    @Test
    void aTenantThatDoesNotComeToRestGetsNothingNew() {
        WindowHeap heap = heap(HeapSettings.standard(4096 * MIB, SPAN));
        long kept = heap.allocate(SPAN);
        memory.atRest = false;
        assertEquals(HeapRefusal.NO_MEMORY.code(), heap.allocate(64 * MIB));
        assertEquals(SPAN, heap.free(kept));
        assertEquals(0, heap.trim());
        assertEquals(32 * MIB, memory.committedBytes());
        assertTrue(heap.allocate(20 * MIB) >= 0, "what has memory is handed out without a change");
    }

    @Test
    void aShrunkenQuotaHoldsAsMemoryIsFreed() {
        WindowHeap heap = heap(HeapSettings.exact(1024 * MIB, SPAN));
        long large = heap.allocate(100 * MIB);
        long little = heap.allocate(10 * MIB);
        assertEquals(60 * MIB, heap.setQuota(50 * MIB));
        assertEquals(HeapRefusal.OVER_QUOTA.code(), heap.allocate(1));
        assertEquals(HeapRefusal.OVER_QUOTA.code(), heap.charge(1));
        heap.free(large);
        assertEquals(0, heap.setQuota(50 * MIB));
        assertTrue(heap.allocate(40 * MIB) >= 0);
        assertEquals(HeapRefusal.OVER_QUOTA.code(), heap.allocate(SPAN));
        assertEquals(0, heap.setQuota(52 * MIB));
        assertTrue(heap.allocate(SPAN) >= 0, "grown while it runs");
        assertEquals(10 * MIB, heap.sizeOf(little));
    }

    @Test
    void memoryThatIsFreeElsewhereMakesRoomInTheQuota() {
        WindowHeap heap = heap(HeapSettings.exact(1024 * MIB, SPAN));
        heap.setQuota(100 * MIB);
        long[] parts = new long[10];
        for (int i = 0; i < parts.length; i++) {
            parts[i] = heap.allocate(10 * MIB);
        }
        for (int i = 0; i < parts.length; i += 2) {
            heap.free(parts[i]);
        }
        long whole = heap.allocate(50 * MIB);
        assertTrue(whole >= 0, "in pieces there was enough");
        assertEquals(100 * MIB, memory.committedBytes());
        assertEquals(HeapRefusal.OVER_QUOTA.code(), heap.charge(SPAN));
        heap.free(whole);
        assertEquals(0, heap.charge(SPAN));
        assertEquals(98 * MIB, memory.committedBytes(), "what the program makes itself counts too");
        heap.discharge(SPAN);
        assertThrows(IllegalArgumentException.class, () -> heap.discharge(1));
    }

    @Test
    void reservationsLieHighAndHaveNoMemory() {
        WindowHeap heap = heap(HeapSettings.standard(1024 * MIB, SPAN));
        long memoryAtTheBottom = heap.allocate(SPAN);
        long range = heap.reserve(400 * MIB + 1, 1, WindowHeap.ANYWHERE);
        assertEquals(1024 * MIB - 402 * MIB, range);
        assertEquals(0, memoryAtTheBottom);
        assertEquals(512 * MIB, heap.reserve(SPAN, 64 * MIB, 512 * MIB), "where it was wanted");
        assertEquals(range, heap.startOf(range + 400 * MIB));
        assertEquals(400 * MIB + 1, heap.sizeOf(range));
        assertEquals(HeapRefusal.WRONG_KIND.code(), heap.free(range));
        assertEquals(HeapRefusal.INSIDE.code(), heap.release(range + SPAN));
        assertEquals(HeapRefusal.NO_ADDRESSES.code(), heap.reserve(700 * MIB, 1, WindowHeap.ANYWHERE));
        assertEquals(400 * MIB + 1, heap.release(range));
        assertEquals(HeapRefusal.NOT_LIVE.code(), heap.release(range));
        assertEquals(32 * MIB, memory.committedBytes());
    }

    @Test
    void requestsThatMakeNoSenseAreRefused() {
        WindowHeap heap = heap(HeapSettings.standard(64 * MIB, SPAN));
        for (long bytes : new long[] {0, -1, Long.MIN_VALUE}) {
            assertEquals(HeapRefusal.INVALID_REQUEST.code(), heap.allocate(bytes));
            assertEquals(HeapRefusal.INVALID_REQUEST.code(), heap.reserve(bytes, 1, 0));
            assertEquals(HeapRefusal.INVALID_REQUEST.code(), heap.charge(bytes));
        }
        for (long alignment : new long[] {0, -256, 3, Long.MIN_VALUE, 128 * MIB}) {
            assertEquals(HeapRefusal.INVALID_REQUEST.code(), heap.allocate(1, alignment));
            assertEquals(HeapRefusal.INVALID_REQUEST.code(), heap.reserve(1, alignment, 0));
        }
        for (long bytes : new long[] {64 * MIB + 1, Long.MAX_VALUE}) {
            assertEquals(HeapRefusal.NO_ADDRESSES.code(), heap.allocate(bytes));
            assertEquals(HeapRefusal.NO_ADDRESSES.code(), heap.reserve(bytes, 1, 0));
        }
        assertEquals(0, memory.changes);
        assertEquals(HeapRefusal.OVER_QUOTA, HeapRefusal.of(HeapRefusal.OVER_QUOTA.code()));
        assertThrows(IllegalArgumentException.class, () -> HeapRefusal.of(0));
        assertThrows(IllegalArgumentException.class, () -> HeapRefusal.of(-100));
    }

    @Test
    void whatDoesNotFitBeginsBehindWhatIsFree() {
        WindowHeap heap = heap(HeapSettings.exact(64 * MIB, SPAN));
        long first = heap.allocate(5 * MIB);
        long second = heap.allocate(4 * MIB);
        assertEquals(first + 5 * MIB, second, "half of it where memory is");
        assertEquals(10 * MIB, memory.committedBytes());
        long third = heap.allocate(MIB);
        assertEquals(second + 4 * MIB, third);
        heap.free(second);
        assertEquals(second, heap.allocate(4 * MIB - 5000), "rounded to 4 KiB");
        heap.allocate(1);
        assertEquals(12 * MIB, memory.committedBytes(), "an arena for what is small");
    }

    @Test
    void whatIsSmallGoesAmongTheRestWhereNoArenaIsToBeHad() {
        WindowHeap heap = heap(HeapSettings.exact(4 * SPAN, SPAN));
        heap.setQuota(SPAN);
        heap.allocate(3 * MIB / 2);
        long little = heap.allocate(1000);
        assertEquals(3 * MIB / 2, little);
        assertEquals(little, heap.startOf(little + 999));
        assertEquals(HeapRefusal.OVER_QUOTA.code(), heap.allocate(MIB));
        assertEquals(1000, heap.free(little));
    }

    @Test
    void segmentsOfPyTorchWasteNothing() {
        WindowHeap heap = heap(HeapSettings.exact(4096 * MIB, SPAN));
        for (int i = 0; i < 20; i++) {
            for (long bytes : new long[] {SPAN, 20 * MIB, SPAN * (6 + i)}) {
                assertEquals(0, heap.allocate(bytes) % SPAN);
            }
        }
        assertEquals(0, heap.statistics().fragmentation());
        assertEquals(heap.statistics().liveBytes(), memory.committedBytes());
    }

    @Test
    void anEmptyArenaStaysOnceAndGoesWithATrim() {
        WindowHeap heap = heap(HeapSettings.exact(64 * MIB, SPAN));
        long first = heap.allocate(MIB / 8);
        heap.free(first);
        int commits = memory.commits;
        for (int i = 0; i < 100; i++) {
            heap.free(heap.allocate(MIB / 8));
        }
        assertEquals(commits, memory.commits, "at the border of an arena");
        assertEquals(SPAN, heap.statistics().reclaimableBytes());
        assertEquals(SPAN, heap.trim());
        assertEquals(0, memory.committedBytes());
    }
}
