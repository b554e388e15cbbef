package io.tessera.executor.pool;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.driver.DriverCalls;
import io.tessera.executor.handle.ClientHandles;
import io.tessera.executor.stream.ClientStreams;
import io.tessera.executor.stream.MoveTime;
import io.tessera.testing.driver.FakeDriver;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Pools over a window that is a list: what they give out to which client, and when it goes back. */
@Timeout(180)
class ClientPoolsTest {
    private static final long KIB = 1024;
    private static final int OPERATIONS = 60_000;

    private final Arena arena = Arena.ofConfined();
    private final FakeDriver driver = new FakeDriver();
    private final DriverCalls calls = new DriverCalls(driver, arena);
    private final ClientStreams streams = new ClientStreams(calls, new ClientHandles(0), MoveTime.ofSoftware());
    private final ListWindow window = new ListWindow();
    private final AtomicLong time = new AtomicLong();
    private final ClientPools pools = new ClientPools(window, streams, () -> time.addAndGet(1_000_000_000));

    ClientPoolsTest() {
        driver.recording = false;
    }

    @AfterEach
    void close() {
        arena.close();
        driver.close();
    }

    @Test
    void whatAStreamFreedIsItsOwnAtOnceAndOthersWhenItIsDone() {
        MemoryPool pool = pools.create(0);
        driver.heldStreams.add(1L);
        long address = pools.allocate(pool, 64 * KIB, 1);
        pools.free(address, 1);
        assertEquals(address, pools.allocate(pool, 64 * KIB, 1), "the same stream has it again");
        pools.free(address, 1);
        long other = pools.allocate(pool, 64 * KIB, 2);
        assertNotEquals(address, other, "work of stream 1 may still use it");
        pools.poll(time.get());
        assertNotEquals(address, pools.allocate(pool, 64 * KIB, 2));
        driver.heldStreams.clear();
        pools.poll(time.addAndGet(1_000_000_000));
        assertEquals(address, pools.allocate(pool, 64 * KIB, 2), "now it is free");
    }

    @Test
    void aPoolKeepsWhatItsThresholdSays() {
        MemoryPool pool = pools.create(0);
        long first = pools.allocate(pool, 100 * KIB, 1);
        long second = pools.allocate(pool, 200 * KIB, 1);
        assertEquals(300 * KIB, pool.attribute(7));
        pools.free(first, 1);
        pools.poll(time.addAndGet(1_000_000_000));
        assertEquals(200 * KIB, pool.attribute(5), "what is complete goes back");
        assertTrue(pool.attribute(4, -1L));
        pools.free(second, 1);
        pools.poll(time.addAndGet(1_000_000_000));
        assertEquals(200 * KIB, pool.attribute(5), "an endless threshold keeps all");
        assertEquals(0, pool.attribute(7));
        assertEquals(300 * KIB, pool.attribute(8));
        pools.trim(pool, 0);
        assertEquals(0, pool.attribute(5));
        assertTrue(pool.attribute(6, 0));
        assertEquals(0, pool.attribute(6));
        assertFalse(pool.attribute(6, 1));
        assertTrue(window.live.isEmpty());
    }

    @Test
    void memoryIsTakenBackWhereNoneIsLeft() {
        MemoryPool pool = pools.create(0);
        pool.attribute(4, -1L);
        driver.heldStreams.add(1L);
        long address = pools.allocate(pool, 900 * KIB, 1);
        pools.free(address, 1);
        assertEquals(0, pools.allocate(pool, 800 * KIB, 2), "stream 1 is never done, and the wait has a bound");
        driver.heldStreams.clear();
        assertNotEquals(0, pools.allocate(pool, 800 * KIB, 2));
        MemoryPool small = pools.create(100 * KIB);
        assertEquals(0, pools.allocate(small, 101 * KIB, 1), "more than the pool's own limit");
        assertNotEquals(0, pools.allocate(small, 99 * KIB, 1));
    }

    @Test
    void aPoolThatIsDestroyedLetsItsBlocksLiveOn() {
        MemoryPool pool = pools.create(0);
        long address = pools.allocate(pool, 10 * KIB, 1);
        pools.destroy(pool);
        assertEquals(null, pools.pool(pool.number()));
        assertEquals(1, window.live.size());
        pools.free(address, 1);
        pools.poll(time.addAndGet(1_000_000_000));
        assertTrue(window.live.isEmpty());
    }

    /** Memory in use never overlaps, nor does it overlap what a stream still uses that another stream freed. */
    @Test
    void noBlockIsGivenToTwo() {
        long seed = Long.getLong("tessera.seed", System.nanoTime());
        System.out.println(OPERATIONS + " operations on pools, seed " + seed);
        Random random = new Random(seed);
        window.sizeBytes = 4 << 20;
        List<MemoryPool> own = new ArrayList<>(List.of(pools.create(0), pools.create(0), pools.create(1 << 20)));
        own.getFirst().attribute(4, -1L);
        Map<Long, long[]> used = new HashMap<>(); // address: bytes, stream
        Map<Long, Map<Long, Long>> pending = new HashMap<>(); // stream that is held: address to bytes
        for (int i = 0; i < OPERATIONS; i++) {
            long stream = 1 + random.nextInt(3);
            switch (random.nextInt(8)) {
                case 0, 1, 2 -> {
                    long bytes = 1 + random.nextInt(random.nextBoolean() ? 100_000 : 2000);
                    long address = used.size() > 60 ? 0 : pools.allocate(own.get(random.nextInt(own.size())), bytes,
                            stream);
                    if (address != 0) {
                        check(address, bytes, stream, used, pending, "seed " + seed + ", operation " + i);
                        used.put(address, new long[] {bytes, stream});
                    }
                }
                case 3, 4, 5 -> {
                    if (!used.isEmpty()) {
                        long address = new ArrayList<>(used.keySet()).get(random.nextInt(used.size()));
                        long bytes = used.remove(address)[0];
                        if (random.nextInt(10) == 0) {
                            pools.free(address);
                        } else {
                            pools.free(address, stream);
                            if (driver.heldStreams.contains(stream)) {
                                pending.computeIfAbsent(stream, _ -> new HashMap<>()).put(address, bytes);
                            }
                        }
                    }
                }
                case 6 -> {
                    if (driver.heldStreams.remove(stream)) {
                        pending.remove(stream);
                    } else if (driver.heldStreams.isEmpty()) {
                        driver.heldStreams.add(stream);
                    }
                }
                default -> pools.poll(time.addAndGet(1_000_000_000));
            }
        }
        driver.heldStreams.clear();
        used.keySet().forEach(address -> pools.free(address, 1));
        pools.close();
        assertTrue(window.live.isEmpty(), "seed " + seed + ": " + window.live);
        streams.close();
        assertEquals(0, driver.alive("event"), "seed " + seed);
    }

    private void check(long address, long bytes, long stream, Map<Long, long[]> used,
            Map<Long, Map<Long, Long>> pending, String when) {
        used.forEach((begin, what) -> assertFalse(begin < address + bytes && address < begin + what[0], when));
        pending.forEach((held, blocks) -> blocks.entrySet().removeIf(block -> {
            boolean overlaps = block.getKey() < address + bytes && address < block.getKey() + block.getValue();
            assertTrue(!overlaps || held == stream, () -> when + ": stream " + held + " may still use it");
            return overlaps;
        }));
    }
}
