package io.tessera.agent.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.agent.clock.Ticks;
import java.lang.ref.ReferenceQueue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The bounded tables and the bound on stacks, without a JVM's worth of libraries. */
@Timeout(180)
class TablesTest {
    private static final ReferenceQueue<Object> QUEUE = new ReferenceQueue<>();

    @AfterEach
    void theSystemsClock() {
        Ticks.use(null);
    }

    private static Allocation at(long address) {
        return new Allocation(null, QUEUE, address, 256, MemoryKind.DEVICE, Site.UNSAMPLED, 1, 0);
    }

    @Test
    void allocationsBehaveAsAMap() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        AllocationTable table = new AllocationTable(1 << 16);
        Map<Long, Allocation> expected = new HashMap<>();
        for (int i = 0; i < 20_000; i++) {
            long address = 0x7f00_0000_0000L + 256L * random.nextInt(2000);
            if (random.nextInt(3) > 0) {
                Allocation allocation = at(address);
                assertTrue(table.add(allocation));
                expected.put(address, allocation);
            } else {
                assertSame(expected.remove(address), table.remove(address));
            }
            assertSame(expected.get(address), table.find(address));
        }
        List<Allocation> all = new ArrayList<>();
        table.forEach(all::add);
        assertEquals(expected.size(), all.size());
        assertEquals(expected.size(), table.size());
        assertTrue(all.containsAll(expected.values()));
    }

    @Test
    void onlyTheVeryEntryIsRemoved() {
        AllocationTable table = new AllocationTable(1 << 10);
        Allocation first = at(4096);
        Allocation second = at(4096);
        assertTrue(table.add(first));
        assertTrue(table.add(second));
        assertFalse(table.remove(first));
        assertTrue(table.remove(second));
        assertNull(table.find(4096));
    }

    @Test
    void aFullTableSaysSo() {
        AllocationTable table = new AllocationTable(64);
        int added = 0;
        for (int i = 0; i < 1000; i++) {
            added += table.add(at(256L * i)) ? 1 : 0;
        }
        assertEquals(64, added);
        assertEquals(64, table.size());
    }

    @Test
    void aKernelsNameMayCome() {
        LaunchTable table = new LaunchTable();
        assertEquals("kernel 0x1000", table.of(0x1000).name);
        table.of(0x1000).count.increment();
        table.name(0x1000, "saxpy");
        assertEquals("saxpy", table.of(0x1000).name);
        assertEquals(1, table.of("kernel 0x1000").count.sum(), "what was counted before is kept under the old name");
        table.name(0x1000, "saxpy");
        assertSame(table.of(0x1000), table.of(0x1000));
    }

    @Test
    void kernelsAreBounded() {
        LaunchTable table = new LaunchTable();
        int known = 0;
        for (int i = 1; i <= 10_000; i++) {
            known += table.of(8L * i) == null ? 0 : 1;
        }
        assertEquals(4096, known);
        assertEquals(4096, table.all().size());
    }

    @Test
    void stacksAreBoundedInTime() {
        AtomicLong now = new AtomicLong();
        Ticks.use(now::get);
        Sampling sampling = new Sampling(2, 10, 0);
        assertEquals(10, taken(sampling, 1000));
        now.addAndGet(1_000_000_000L);
        assertEquals(5, taken(sampling, 10));
        sampling.every(0);
        now.addAndGet(1_000_000_000L);
        assertEquals(0, taken(sampling, 1000));
    }

    @Test
    void aStackThatCostMuchIsFollowedByNone() {
        AtomicLong now = new AtomicLong();
        Ticks.use(now::get);
        Sampling sampling = new Sampling(1, 1000, 500);
        assertTrue(sampling.next());
        now.set(250_000);
        sampling.took(0);
        now.addAndGet(500 * 250_000L - 1);
        assertFalse(sampling.next());
        now.incrementAndGet();
        assertTrue(sampling.next());
        long began = now.getAndAdd(60_000_000_000L); // the machine slept meanwhile
        sampling.took(began);
        now.addAndGet(500_000_000L);
        assertTrue(sampling.next());
    }

    @Test
    void launchesAreCountedInAllNames() {
        LaunchTable table = new LaunchTable();
        for (int i = 0; i < 5000; i++) {
            Launches launches = table.of("name " + i);
            assertEquals(i < 4096, launches != null);
            if (launches != null) {
                launches.count.increment();
            }
        }
        table.of(8).count.add(3);
        table.name(8, "another");
        assertEquals(4099, table.total(), "the names were full");
    }

    private static int taken(Sampling sampling, int events) {
        int taken = 0;
        for (int i = 0; i < events; i++) {
            taken += sampling.next() ? 1 : 0;
        }
        return taken;
    }

    @Test
    void veryManyOwnersAreNone() {
        Allocation allocation = new Allocation(new Object(), QUEUE, 1, 1, MemoryKind.DEVICE, Site.UNSAMPLED, 1, 0);
        assertTrue(allocation.gainOwner());
        allocation.loseOwner();
        allocation.loseOwner();
        assertTrue(allocation.ownerCollected());
        for (int i = 0; i < 100; i++) {
            allocation.gainOwner();
        }
        for (int i = 0; i < 100; i++) {
            allocation.loseOwner();
        }
        assertFalse(allocation.ownerCollected());
        assertFalse(at(1).ownerCollected(), "an allocation without an owner has none to lose");
    }

    @Test
    void modesAreChecked() {
        Recorder.mode("sampled:7");
        assertEquals("sampled:7", Recorder.mode());
        Recorder.mode("off");
        assertEquals("off", Recorder.mode());
        Recorder.mode("on");
        assertEquals("on", Recorder.mode());
        for (String wrong : List.of("", "sampled:0", "sampled:x", "loud")) {
            assertThrows(IllegalArgumentException.class, () -> Recorder.mode(wrong));
        }
        assertEquals("on", Recorder.mode());
    }
}
