package io.tessera.guardian.heap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;

/** Random traces against {@link HeapModel}. A failing trace is named by its seed. */
class WindowHeapPropertyTest {
    private static final long MIB = 1L << 20;
    private static final int STEPS = 1500;

    private static long randomSize(Random random) {
        return switch (random.nextInt(8)) {
            case 0 -> 2 * MIB;
            case 1 -> 20 * MIB;
            case 2 -> 2 * MIB * (1 + random.nextInt(40));
            case 3 -> 1 + random.nextInt((int) (40 * MIB));
            case 4 -> 1 + random.nextInt((int) (2 * MIB));
            case 5 -> 1 + random.nextInt(512);
            default -> 1 + random.nextInt(1 << 8 + random.nextInt(13));
        };
    }

    private static long randomAlignment(Random random) {
        return random.nextInt(5) > 0 ? 1 : 1L << random.nextInt(25);
    }

    private static HeapSettings settings(Random random, int granuleLog2) {
        long granule = 1L << granuleLog2;
        long range = granule * (1 + random.nextInt((int) (1024 * MIB / granule)));
        return random.nextBoolean() ? HeapSettings.standard(range, granule) : HeapSettings.exact(range, granule);
    }

    private static void step(HeapModel model, Random random) {
        int choice = random.nextInt(100);
        long range = model.settings.rangeBytes();
        if (choice < 50) {
            model.allocate(randomSize(random), randomAlignment(random));
        } else if (choice < 90) {
            model.freeOne(random);
        } else if (choice < 92) {
            model.freeWrongly(random);
        } else if (choice < 94) {
            long wanted = random.nextBoolean() ? WindowHeap.ANYWHERE : random.nextLong(range) & -model.settings.granuleBytes();
            model.reserve(1 + random.nextLong(range / 4), randomAlignment(random), wanted);
        } else if (choice < 96) {
            model.setQuota(random.nextLong(range));
        } else if (choice < 97) {
            assertTrue(model.heap.trim(random.nextLong(range)) >= 0);
        } else if (choice < 98) {
            model.charge(1 + random.nextLong(64 * MIB));
        } else if (choice < 99) {
            model.discharge(random);
        } else {
            long committed = model.heap.trim();
            assertTrue(committed >= 0);
            assertEquals(0, model.memory.atRest ? model.heap.statistics().reclaimableBytes() : 0, "all is given back");
        }
    }

    @Property(tries = 120, shrinking = ShrinkingMode.OFF)
    void everyTraceAgreesWithTheModel(@ForAll long seed, @ForAll @IntRange(min = 21, max = 26) int granuleLog2) {
        Random random = new Random(seed);
        HeapModel model = new HeapModel(settings(random, granuleLog2), WindowHeap.UNLIMITED);
        for (int i = 0; i < STEPS; i++) {
            step(model, random);
            if (i % 50 == 0) {
                model.check();
            }
        }
        model.check();
        model.freeAll();
        model.check();
        model.heap.trim();
        assertEquals(0, model.memory.committedBytes(), "nothing is lost");
        model.setQuota(WindowHeap.UNLIMITED >> 1);
        assertEquals(0, model.heap.allocate(model.settings.rangeBytes()), "and all of it is one again");
    }

    @Property(tries = 120, shrinking = ShrinkingMode.OFF)
    void commitsThatFailLeaveEverythingAsItWas(@ForAll long seed, @ForAll @IntRange(min = 21, max = 24) int granuleLog2) {
        Random random = new Random(seed);
        HeapModel model = new HeapModel(settings(random, granuleLog2), WindowHeap.UNLIMITED);
        for (int i = 0; i < STEPS; i++) {
            model.memory.yields = bytes -> random.nextInt(3) > 0;
            model.memory.atRest = random.nextInt(4) > 0;
            long size = randomSize(random);
            HeapStatistics before = model.heap.statistics();
            BitSet committed = (BitSet) model.memory.committed.clone();
            if (random.nextInt(5) < 3) {
                long answer = model.allocate(size, randomAlignment(random));
                if (answer == HeapRefusal.NO_MEMORY.code() || answer == HeapRefusal.NO_ADDRESSES.code()) {
                    assertEquals(sum(before), sum(model.heap.statistics()));
                    assertEquals(committed, model.memory.committed);
                }
            } else {
                model.freeOne(random);
            }
            if (i % 50 == 0) {
                model.check();
            }
        }
        model.memory.yields = bytes -> true;
        model.memory.atRest = true;
        model.freeAll();
        model.heap.trim();
        assertEquals(0, model.memory.committedBytes(), "nothing is lost");
    }

    /** All but what a spare arena that went back changes: it is free one way or the other. */
    private static HeapStatistics sum(HeapStatistics s) {
        return new HeapStatistics(s.liveCount(), s.liveBytes(), s.roundedBytes(), s.committedBytes(), 0,
                s.reservedBytes(), s.chargedBytes(), s.quotaBytes(), 0);
    }

    @Property(tries = 40, shrinking = ShrinkingMode.OFF)
    void whatIsCommittedNeverExceedsTheQuota(@ForAll long seed) {
        Random random = new Random(seed);
        long quota = (1 + random.nextInt(300)) * MIB + random.nextInt(1000);
        HeapModel model = new HeapModel(settings(random, 21), quota);
        for (int i = 0; i < STEPS; i++) {
            if (random.nextInt(3) > 0) {
                model.allocate(randomSize(random), 1); // checks the quota
            } else {
                model.freeOne(random);
            }
        }
        model.check();
        model.freeAll();
        long whole = Math.min(quota + 2 * MIB - 1 & -2 * MIB, model.settings.rangeBytes());
        assertTrue(model.allocate(whole, 1) >= 0, "the whole quota as one, though it lay in pieces");
    }
}
