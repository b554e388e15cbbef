package io.tessera.guardian.heap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** A heap beside a plain map of what is live in it; every answer of the heap is held against the map. */
final class HeapModel {
    /** @param reserved or allocated */
    record Live(long bytes, boolean reserved) {
    }

    final HeapSettings settings;
    final CheckedMemory memory;
    final WindowHeap heap;
    final TreeMap<Long, Live> live = new TreeMap<>();
    private final List<Long> starts = new ArrayList<>();
    long quotaBytes;
    private long charged;

    HeapModel(HeapSettings settings, long quotaBytes) {
        this.settings = settings;
        this.memory = new CheckedMemory(settings);
        this.heap = new WindowHeap(settings, memory, quotaBytes);
        this.quotaBytes = quotaBytes;
    }

    long allocate(long bytes, long alignment) {
        long before = heap.statistics().roundedBytes();
        long offset = heap.allocate(bytes, alignment);
        if (offset >= 0) {
            assertEquals(0, offset % Math.max(256, alignment), "aligned");
            assertTrue(memory.covers(offset, bytes), "has memory");
            add(offset, bytes, false);
            assertTrue(heap.statistics().roundedBytes() - before >= bytes);
            requireWithinQuota();
        }
        return offset;
    }

    /** Memory is within the quota; the quota is one of whole granules. */
    private void requireWithinQuota() {
        long granules = quotaBytes / settings.granuleBytes() + (quotaBytes % settings.granuleBytes() == 0 ? 0 : 1);
        assertTrue((memory.committedBytes() + charged) / settings.granuleBytes() <= granules, "over the quota");
    }

    long reserve(long bytes, long alignment, long wanted) {
        long offset = heap.reserve(bytes, alignment, wanted);
        if (offset >= 0) {
            long granule = settings.granuleBytes();
            assertEquals(0, offset % Math.max(granule, alignment), "aligned");
            assertTrue(memory.spares(offset, bytes), "has no memory of ours");
            add(offset, bytes, true);
        }
        return offset;
    }

    private void add(long offset, long bytes, boolean reserved) {
        assertTrue(offset + bytes <= settings.rangeBytes(), "within the range");
        Map.Entry<Long, Live> below = live.lowerEntry(offset + bytes);
        assertTrue(below == null || below.getKey() + below.getValue().bytes() <= offset, "meets another");
        live.put(offset, new Live(bytes, reserved));
        starts.add(offset);
    }

    boolean charge(long bytes) {
        boolean done = heap.charge(bytes) == 0;
        charged += done ? bytes : 0;
        if (done) {
            requireWithinQuota();
        }
        return done;
    }

    void discharge(Random random) {
        long bytes = (long) (charged * random.nextDouble());
        heap.discharge(bytes);
        charged -= bytes;
    }

    void freeOne(Random random) {
        if (starts.isEmpty()) {
            return;
        }
        int index = random.nextInt(starts.size());
        long start = starts.get(index);
        starts.set(index, starts.getLast());
        starts.removeLast();
        Live gone = live.remove(start);
        long refused = gone.reserved() ? heap.free(start) : heap.release(start);
        assertEquals(HeapRefusal.WRONG_KIND.code(), refused);
        assertEquals(gone.bytes(), gone.reserved() ? heap.release(start) : heap.free(start));
        assertEquals(HeapRefusal.NOT_LIVE.code(), heap.free(start), "freed twice");
    }

    /** Names something that is not the start of anything live. */
    void freeWrongly(Random random) {
        long offset = random.nextInt(4) == 0 ? random.nextLong() : (long) (random.nextDouble() * settings.rangeBytes());
        if (live.containsKey(offset)) {
            return;
        }
        Map.Entry<Long, Live> around = live.floorEntry(offset);
        boolean inside = around != null && offset - around.getKey() < around.getValue().bytes();
        long expected = inside ? HeapRefusal.INSIDE.code() : HeapRefusal.NOT_LIVE.code();
        assertEquals(expected, heap.free(offset));
        assertEquals(expected, heap.release(offset));
        assertEquals(expected, heap.sizeOf(offset));
        assertEquals(inside ? around.getKey() : HeapRefusal.NOT_LIVE.code(), heap.startOf(offset));
    }

    void setQuota(long bytes) {
        quotaBytes = bytes;
        long over = heap.setQuota(bytes);
        long rounded = (bytes + settings.granuleBytes() - 1) / settings.granuleBytes() * settings.granuleBytes();
        assertEquals(Math.max(0, memory.committedBytes() + charged - rounded), over);
    }

    void check() {
        HeapStatistics now = heap.statistics();
        assertEquals(live.values().stream().filter(l -> !l.reserved()).count(), now.liveCount());
        assertEquals(live.values().stream().filter(l -> !l.reserved()).mapToLong(Live::bytes).sum(), now.liveBytes());
        assertEquals(memory.committedBytes(), now.committedBytes());
        long granule = settings.granuleBytes();
        assertEquals(live.values().stream().filter(Live::reserved)
                .mapToLong(l -> (l.bytes() + granule - 1) / granule * granule).sum(), now.reservedBytes());
        assertEquals(charged, now.chargedBytes());
        assertTrue(now.roundedBytes() >= now.liveBytes() && now.roundedBytes() <= now.committedBytes());
        assertTrue(now.reclaimableBytes() >= 0 && now.reclaimableBytes() <= now.committedBytes() - now.roundedBytes());
        live.forEach((start, l) -> {
            assertTrue(l.reserved() ? memory.spares(start, l.bytes()) : memory.covers(start, l.bytes()));
            assertEquals(l.bytes(), heap.sizeOf(start));
            assertEquals(start, heap.startOf(start + l.bytes() - 1));
        });
    }

    void freeAll() {
        Random random = new Random(1);
        while (!starts.isEmpty()) {
            freeOne(random);
        }
        heap.discharge(charged);
        charged = 0;
    }
}
