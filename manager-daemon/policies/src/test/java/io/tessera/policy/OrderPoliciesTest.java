package io.tessera.policy;

import static io.tessera.policy.PolicySteps.MS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** {@code fifo}, {@code round-robin} and {@code priority} compared with their formulas. */
class OrderPoliciesTest {
    private static final long QUANTUM_NS = 10 * MS;

    @Property(tries = 100, shrinking = ShrinkingMode.OFF)
    void fifoServesTheOldestRequest(@ForAll long seed) {
        Random random = new Random(seed);
        PolicySteps steps = new PolicySteps(PolicyName.FIFO.make(PolicySettings.SUBMISSIONS));
        List<Long> sinceNs = random.longs(20, 0, 1_000).distinct().boxed().toList();
        steps.nowNs = 1_000;
        for (int i = 0; i < sinceNs.size(); i++) {
            steps.policy.joined(i, TenantTerms.DEFAULT, 1_000);
            steps.policy.ready(i, 1, sinceNs.get(i), 1_000);
        }
        List<Long> served = LongStream.range(0, sinceNs.size()).map(_ -> sinceNs.get((int) steps.turn().tenant())).boxed().toList();
        assertEquals(sinceNs.stream().sorted().toList(), served, "seed " + seed);
    }

    /** Deficit round robin: length = max(q / 10, q - debt), debt = clamp(debt + used - q, 0, 4 q), with q by weight. */
    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void roundRobinTakesOffWhatTurnsBeforeTookTooMuch(@ForAll long seed) {
        Random random = new Random(seed);
        int tenants = 2 + random.nextInt(5);
        int[] weights = random.ints(tenants, 1, 10).toArray();
        int sum = java.util.Arrays.stream(weights).sum();
        PolicySteps steps = new PolicySteps(PolicyName.ROUND_ROBIN.make(PolicySettings.SUBMISSIONS));
        for (int i = 0; i < tenants; i++) {
            steps.policy.joined(i, TenantTerms.DEFAULT.withWeight(weights[i]), 0);
        }
        LongStream.range(0, tenants).forEach(steps::ready);
        long[] debtsNs = new long[tenants];
        for (int turn = 0; turn < 200; turn++) {
            int tenant = turn % tenants;
            long quantumNs = (long) ((double) QUANTUM_NS * tenants * weights[tenant] / sum);
            TurnChoice.Turn choice = steps.turn();
            assertEquals(new TurnChoice.Turn(tenant, Math.max(quantumNs / 10, quantumNs - debtsNs[tenant])), choice, "seed " + seed);
            long usedNs = random.nextLong(40 * MS);
            steps.use(tenant, usedNs / 2);
            steps.use(tenant, usedNs - usedNs / 2);
            steps.ready(tenant);
            debtsNs[tenant] = Math.clamp(debtsNs[tenant] + usedNs - quantumNs, 0, 4 * quantumNs);
        }
    }

    @Example
    void roundRobinGivesEqualTenantsExactlyTheQuantum() {
        PolicySteps steps = new PolicySteps(PolicyName.ROUND_ROBIN.make(PolicySettings.TURNS.withQuantumNs(333_333_333)));
        TenantTerms three = TenantTerms.DEFAULT.withWeight(3);
        steps.with(three, three, three).ready(1, 2, 3);
        assertEquals(333_333_333, steps.turn().lengthNs());
        steps.policy.quantumNs(7);
        assertEquals(7, steps.turn().lengthNs());
        steps.policy.changed(3, three.withWeight(6), 0);
        assertEquals(10, steps.turn().lengthNs(), "7 x 3 x 6 / 12");
    }

    @Example
    void timeThatNobodyElseWantedIsNotOwed() {
        PolicySteps steps = new PolicySteps(PolicyName.ROUND_ROBIN.make(PolicySettings.SUBMISSIONS)).with(TenantTerms.DEFAULT, TenantTerms.DEFAULT);
        steps.ready(1);
        steps.turn();
        steps.use(1, 500 * MS);
        steps.ready(2);
        steps.use(1, 2 * MS);
        steps.ready(1);
        assertEquals(new TurnChoice.Turn(2, QUANTUM_NS), steps.turn());
        assertEquals(new TurnChoice.Turn(1, QUANTUM_NS - 2 * MS), steps.turn(), "only what it used while the other waited");
    }

    /** level = priority + 10 for interactive tenants + waited / ageing; the highest level is next. */
    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void priorityServesTheHighestLevel(@ForAll long seed) {
        Random random = new Random(seed);
        PolicySteps steps = new PolicySteps(PolicyName.PRIORITY.make(PolicySettings.SUBMISSIONS.withAgeingNs(100 * MS)));
        double[] staticLevels = new double[8];
        long[] sinceNs = new long[8];
        for (int i = 0; i < 8; i++) {
            boolean interactive = random.nextBoolean();
            int priority = random.nextInt(20);
            staticLevels[i] = priority + (interactive ? 10 : 0);
            TenantTerms terms = TenantTerms.DEFAULT.withPriority(priority);
            steps.policy.joined(i, interactive ? terms.withClass(TenantClass.INTERACTIVE) : terms, 0);
        }
        for (int i = 0; i < 8; i++) {
            steps.nowNs += random.nextLong(300 * MS);
            sinceNs[i] = steps.nowNs;
            steps.ready(i);
        }
        long nowNs = steps.nowNs;
        Comparator<Long> byLevel = Comparator.comparingDouble(i -> staticLevels[i.intValue()] + (nowNs - sinceNs[i.intValue()]) / (100.0 * MS));
        List<Long> expected = LongStream.range(0, 8).boxed().sorted(byLevel.reversed()).toList();
        assertEquals(expected, LongStream.range(0, 8).map(_ -> steps.turn().tenant()).boxed().toList(), "seed " + seed);
    }

    @Example
    void anInteractiveTenantEndsABatchTurnButNotOneThatWaitedLonger() {
        PolicySteps steps = new PolicySteps(PolicyName.PRIORITY.make(PolicySettings.SUBMISSIONS.withAgeingNs(10 * MS)));
        steps.with(TenantTerms.DEFAULT, TenantTerms.DEFAULT.withClass(TenantClass.INTERACTIVE), TenantTerms.DEFAULT);
        steps.ready(1);
        assertEquals(1, steps.turn().tenant());
        steps.ready(3);
        assertFalse(steps.policy.preempts(1, steps.nowNs), "its equal");
        steps.ready(2);
        assertTrue(steps.policy.preempts(1, steps.nowNs));
        assertEquals(2, steps.turn().tenant());
        steps.nowNs = 101 * MS;
        steps.ready(2);
        assertEquals(3, steps.turn().tenant(), "after 10 priorities' worth of waiting");
        assertFalse(steps.policy.preempts(3, steps.nowNs), "nor does it lose its turn again");
    }
}
