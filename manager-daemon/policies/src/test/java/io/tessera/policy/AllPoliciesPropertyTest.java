package io.tessera.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Properties of every policy, in random histories; a failure names policy and seed. */
class AllPoliciesPropertyTest {
    private static final long MS = 1_000_000L;
    private static final int STEPS = 500;

    private enum Does {
        WAITS, READY, RUNS
    }

    private static TenantTerms terms(Random random) {
        return new TenantTerms(1 + random.nextInt(20), random.nextInt(5) - 2, random.nextBoolean() ? TenantClass.INTERACTIVE : TenantClass.BATCH, 1,
                1, random.nextInt(2) * 50 * MS, random.nextBoolean());
    }

    @Property(tries = 400, shrinking = ShrinkingMode.OFF)
    void whoIsReadyIsServedAndNobodyElse(@ForAll PolicyName name, @ForAll long seed) {
        Random random = new Random(seed);
        long quantumNs = random.nextInt(3) * 5 * MS;
        SchedulingPolicy policy = name.make(PolicySettings.SUBMISSIONS.withQuantumNs(quantumNs));
        Map<Long, Does> tenants = new TreeMap<>();
        long nowNs = 0;
        for (int step = 0; step < STEPS; step++) {
            nowNs += random.nextInt(3) * random.nextLong(3 * MS);
            event(policy, tenants, random, nowNs);
            String where = name + ", seed " + seed + ", step " + step;
            boolean anyReady = tenants.containsValue(Does.READY);
            switch (policy.next(nowNs)) {
                case TurnChoice.Turn turn -> {
                    assertEquals(Does.READY, tenants.get(turn.tenant()), where);
                    assertTrue(turn.lengthNs() >= 0 && (quantumNs == 0) == (turn.lengthNs() == 0), where + ": " + turn);
                    tenants.put(turn.tenant(), Does.RUNS);
                }
                case TurnChoice.Delay delay -> {
                    assertTrue(anyReady && name == PolicyName.BAND, where);
                    assertTrue(delay.untilNs() > nowNs && delay.untilNs() <= nowNs + PolicySettings.SUBMISSIONS.maxDelayNs(), where);
                }
                case TurnChoice.Nobody _ -> assertTrue(!anyReady, where);
            }
            assertTrue(policy.nextTickNs() > nowNs, where);
        }
    }

    private static void event(SchedulingPolicy policy, Map<Long, Does> tenants, Random random, long nowNs) {
        long tenant = random.nextInt(6);
        switch (random.nextInt(8)) {
            case 0 -> {
                policy.joined(tenant, terms(random), nowNs);
                tenants.putIfAbsent(tenant, Does.WAITS);
            }
            case 1 -> policy.changed(tenant, terms(random), nowNs);
            case 2 -> {
                policy.left(tenant, nowNs);
                tenants.remove(tenant);
            }
            case 3 -> {
                policy.blocked(tenant, nowNs);
                tenants.computeIfPresent(tenant, (_, _) -> Does.WAITS);
            }
            case 4 -> {
                policy.idle(tenant, nowNs);
                tenants.computeIfPresent(tenant, (_, _) -> Does.WAITS);
            }
            case 5 -> {
                policy.charged(tenant, random.nextLong(30 * MS), nowNs);
                policy.finished(tenant, random.nextLong(30 * MS), nowNs);
            }
            default -> {
                policy.ready(tenant, 1 + random.nextInt(3), nowNs - random.nextLong(MS), nowNs);
                tenants.computeIfPresent(tenant, (_, _) -> Does.READY);
            }
        }
    }

    /** Bounds: ageing of 1 s with the largest difference in class and priority; the other policies need far less. */
    @Property(tries = 100, shrinking = ShrinkingMode.OFF)
    void nobodyStarves(@ForAll PolicyName name, @ForAll long seed) {
        Random random = new Random(seed);
        PolicySteps steps = new PolicySteps(name.make(PolicySettings.SUBMISSIONS.withAgeingNs(100 * MS)));
        Map<Long, Long> lastNs = new TreeMap<>();
        for (long tenant = 1; tenant <= 5; tenant++) {
            steps.policy.joined(tenant, terms(random), 0);
            lastNs.put(tenant, 0L);
        }
        steps.ready(1, 2, 3, 4, 5);
        while (steps.nowNs < 60_000 * MS) {
            long tenant = steps.turnOf(MS + random.nextLong(14 * MS));
            steps.policy.finished(tenant, 5 * MS, steps.nowNs);
            lastNs.put(tenant, steps.nowNs);
            lastNs.forEach((other, servedNs) -> assertTrue(steps.nowNs - servedNs < 8_000 * MS,
                    () -> name + ", seed " + seed + ": " + other + " has not been served for " + (steps.nowNs - servedNs) + " ns"));
        }
    }

    @Property(tries = 50, shrinking = ShrinkingMode.OFF)
    void whoNeverJoinedIsIgnored(@ForAll PolicyName name) {
        PolicySteps steps = new PolicySteps(name.make(PolicySettings.SUBMISSIONS));
        steps.ready(7);
        steps.policy.charged(7, MS, 0);
        steps.policy.finished(7, MS, 0);
        steps.policy.blocked(7, 0);
        steps.policy.idle(7, 0);
        steps.policy.changed(7, TenantTerms.DEFAULT, 0);
        steps.policy.left(7, 0);
        assertEquals(TurnChoice.NOBODY, steps.policy.next(0));
        assertTrue(!steps.policy.preempts(7, 0));
        assertThrows(IllegalArgumentException.class, () -> steps.policy.quantumNs(-1));
        assertThrows(IllegalArgumentException.class, () -> steps.policy.ready(7, 0, 0, 0));
        assertEquals(name, PolicyName.of(name.text()).orElseThrow());
    }
}
