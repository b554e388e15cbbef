package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Shares of the host's memory. */
class HostBackingBudgetTest {
    private static final long PLENTY = 1L << 40;

    private static HostClient asks(long id, String tenant, long wanted) {
        return new HostClient(id, tenant, 0, 0, wanted, 0, 0, 0);
    }

    @Example
    void everybodyGetsWhatItAsksForWhileThereIsEnough() {
        HostTargets targets = new HostBackingBudget(100, 50, Long.MAX_VALUE, 10)
                .targets(List.of(asks(1, "a", 60), asks(2, "b", 40)), PLENTY);
        assertEquals(Map.of(1L, 60L, 2L, 40L), targets.pinned());
    }

    @Example
    void tenantsShareFairlyAndClientsWithinThem() {
        HostTargets targets = new HostBackingBudget(90, 0, Long.MAX_VALUE, 10).targets(
                List.of(asks(1, "a", 50), asks(2, "a", 50), asks(3, "b", 100), asks(4, "c", 10)), PLENTY);
        assertEquals(Map.of(1L, 20L, 2L, 20L, 3L, 40L, 4L, 10L), targets.pinned());
    }

    @Example
    void aTenantsOwnBoundHolds() {
        HostTargets targets = new HostBackingBudget(100, 0, 30, 10)
                .targets(List.of(asks(1, "a", 50), asks(2, "b", 20)), PLENTY);
        assertEquals(Map.of(1L, 30L, 2L, 20L), targets.pinned());
    }

    @Example
    void pinnedMemoryIsKeptWhileNobodyElseAsks() {
        HostClient idle = new HostClient(1, "a", 80, 80, 10, 0, 0, 0);
        HostBackingBudget budget = new HostBackingBudget(100, 0, Long.MAX_VALUE, 10);
        assertEquals(80, budget.targets(List.of(idle, asks(2, "b", 20)), PLENTY).pinned().get(1L));
        assertEquals(60, budget.targets(List.of(idle, asks(2, "b", 40)), PLENTY).pinned().get(1L));
    }

    @Example
    void nobodyGetsMoreWhileTheHostIsShortAndWhatIsHeldStays() {
        HostClient growing = new HostClient(1, "a", 30, 60, 60, 0, 20, 20);
        HostTargets targets = new HostBackingBudget(100, 100, Long.MAX_VALUE, 10)
                .targets(List.of(growing, asks(2, "b", 20)), 9);
        assertEquals(Map.of(1L, 30L, 2L, 0L), targets.pinned());
        assertEquals(Map.of(1L, 0L, 2L, 0L), targets.pageable());
        assertTrue(targets.reason().contains("no client gets more"), targets.reason());
    }

    @Example
    void nobodyGetsMoreWhileTheBudgetIsExceededNotEvenWhatItHolds() {
        // 20 of the first client's bytes may be a raise that it is about to take back.
        HostClient raising = new HostClient(1, "a", 60, 40, 60, 0, 0, 0);
        HostClient other = new HostClient(2, "b", 50, 50, 50, 0, 0, 0);
        HostTargets targets = new HostBackingBudget(100, 0, Long.MAX_VALUE, 0).targets(List.of(raising, other), PLENTY);
        assertEquals(Map.of(1L, 40L, 2L, 50L), targets.pinned());
    }

    @Example
    void promisesCountAgainstWhatTheHostHasLeft() {
        HostClient promised = new HostClient(1, "a", 10, 60, 60, 0, 0, 0);
        HostTargets targets = new HostBackingBudget(1000, 1000, Long.MAX_VALUE, 10)
                .targets(List.of(promised, asks(2, "b", 500)), 100);
        assertEquals(100 - 10 - 50, targets.pinned().get(2L));
    }

    @Property(tries = 300, shrinking = ShrinkingMode.OFF)
    void neitherBudgetNorHostAreOverrunHoweverFastClientsGrow(@ForAll long seed) {
        Random random = new Random(seed);
        long budget = 50 + random.nextInt(200);
        long reserve = random.nextInt(30);
        HostBackingBudget host = new HostBackingBudget(budget, budget / 2, random.nextBoolean() ? Long.MAX_VALUE : budget / 2, reserve);
        long total = reserve + budget / 2 + random.nextInt(400);
        int count = 1 + random.nextInt(6);
        List<HostClient> clients = new ArrayList<>();
        for (int id = 0; id < count; id++) {
            clients.add(asks(id, "t" + id % 3, random.nextInt(150)));
        }
        for (int round = 0; round < 30; round++) {
            long held = clients.stream().mapToLong(c -> c.pinnedHeldBytes() + c.pageableHeldBytes()).sum();
            HostTargets targets = host.targets(clients, total - held);
            List<HostClient> next = new ArrayList<>();
            long pinnedWorst = 0;
            long pageableWorst = 0;
            for (HostClient c : clients) {
                long pinnedTarget = targets.pinned().get(c.clientId());
                long pageableTarget = targets.pageable().get(c.clientId());
                pinnedWorst += Math.max(pinnedTarget, Math.max(c.pinnedHeldBytes(), c.pinnedTargetBytes()));
                pageableWorst += Math.max(pageableTarget, Math.max(c.pageableHeldBytes(), c.pageableTargetBytes()));
                long pinned = stepTo(random, c.pinnedHeldBytes(), pinnedTarget);
                long pageable = stepTo(random, c.pageableHeldBytes(), pageableTarget);
                long wanted = random.nextInt(4) == 0 ? random.nextInt(150) : c.pinnedWantedBytes();
                next.add(new HostClient(c.clientId(), c.tenant(), pinned, pinnedTarget, wanted, pageable,
                        pageableTarget, Math.max(0, wanted - pinned)));
            }
            clients = next;
            long nowHeld = clients.stream().mapToLong(c -> c.pinnedHeldBytes() + c.pageableHeldBytes()).sum();
            assertTrue(pinnedWorst <= budget && pageableWorst <= budget / 2,
                    "pinned " + pinnedWorst + ", pageable " + pageableWorst + " of " + budget + ", seed " + seed);
            assertTrue(total - nowHeld >= reserve, "the host has " + (total - nowHeld) + " left, seed " + seed);
        }
    }

    /** Returns the next amount of a client, which moves part of the way, all of it, or not at all. */
    private static long stepTo(Random random, long held, long target) {
        long way = target - held;
        return held + switch (random.nextInt(3)) {
            case 0 -> 0;
            case 1 -> way;
            default -> way / 2;
        };
    }
}
