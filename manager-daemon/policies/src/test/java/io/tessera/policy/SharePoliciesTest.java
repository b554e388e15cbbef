package io.tessera.policy;

import static io.tessera.policy.PolicySteps.MS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

/** {@code fair}, {@code elastic} and {@code deadline} compared with their formulas. */
class SharePoliciesTest {
    private static final TenantTerms INTERACTIVE = TenantTerms.DEFAULT.withClass(TenantClass.INTERACTIVE);

    /**
     * For tenants that always have work, used time over weight differs by no more than a round (in which an average tenant gets a quantum),
     * the snapping to its end and a request.
     */
    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void fairKeepsVirtualTimesTogether(@ForAll long seed) {
        Random random = new Random(seed);
        int tenants = 2 + random.nextInt(6);
        int[] weights = random.ints(tenants, 1, 20).toArray();
        long quantumNs = random.nextInt(2) * 10 * MS;
        long longestNs = 4 * MS;
        PolicySteps steps = new PolicySteps(PolicyName.FAIR.make(PolicySettings.SUBMISSIONS.withQuantumNs(quantumNs)));
        IntStream.range(0, tenants).forEach(i -> steps.policy.joined(i, TenantTerms.DEFAULT.withWeight(weights[i]), 0));
        IntStream.range(0, tenants).forEach(i -> steps.ready(i));
        double[] virtualNs = new double[tenants];
        double roundNs = (double) quantumNs * tenants / IntStream.of(weights).sum();
        double boundNs = 2 * roundNs + (double) (longestNs + quantumNs / 10) / IntStream.of(weights).min().orElseThrow();
        for (int i = 0; i < 500; i++) {
            TurnChoice.Turn turn = steps.turn();
            long usedNs = 0;
            do {
                long requestNs = 1 + random.nextLong(longestNs);
                steps.use(turn.tenant(), requestNs);
                usedNs += requestNs;
            } while (usedNs < turn.lengthNs());
            steps.ready(turn.tenant());
            virtualNs[(int) turn.tenant()] += (double) usedNs / weights[(int) turn.tenant()];
            double spreadNs = java.util.Arrays.stream(virtualNs).max().orElseThrow() - java.util.Arrays.stream(virtualNs).min().orElseThrow();
            assertTrue(spreadNs <= boundNs, "spread " + spreadNs + " of at most " + boundNs + ", seed " + seed);
        }
    }

    private static int turnsInARow(boolean idle) {
        PolicySteps steps = new PolicySteps(PolicyName.FAIR.make(PolicySettings.SUBMISSIONS.withQuantumNs(0))).with(TenantTerms.DEFAULT,
                TenantTerms.DEFAULT);
        steps.ready(1, 2);
        steps.turnOf(MS);
        steps.turnOf(MS);
        if (idle) {
            steps.policy.idle(2, steps.nowNs);
        } else {
            steps.policy.blocked(2, steps.nowNs);
        }
        for (int i = 0; i < 100; i++) {
            assertEquals(1, steps.turnOf(MS));
        }
        steps.ready(2);
        int turns = 0;
        while (steps.turnOf(MS) == 2) {
            turns++;
        }
        return turns;
    }

    @Example
    void fairMakesUpForTenMillisecondsOfWaitingAndForNoIdling() {
        assertTrue(turnsInARow(true) <= 1, "an idle tenant begins where the others are");
        int turns = turnsInARow(false);
        assertTrue(turns >= 10 && turns <= 11, "a blocked tenant has gained 10 ms: " + turns);
    }

    /** U = ceil(slots x mean x queue / SLA), in whole numbers. */
    @Property(tries = 500)
    void elasticSlots(@ForAll @IntRange(min = 1, max = 100) int slots, @ForAll @LongRange(min = 1, max = 1_000_000_000) long meanNs,
            @ForAll @IntRange(max = 200) int queue, @ForAll @LongRange(min = 1_000_000, max = 1_000_000_000) long slaNs) {
        BigInteger work = BigInteger.valueOf(slots).multiply(BigInteger.valueOf(meanNs)).multiply(BigInteger.valueOf(queue));
        BigInteger[] parts = work.divideAndRemainder(BigInteger.valueOf(slaNs));
        BigInteger exact = parts[1].signum() == 0 ? parts[0] : parts[0].add(BigInteger.ONE);
        int expected = exact.min(BigInteger.valueOf(slots)).intValue();
        assertEquals(expected, ElasticPolicy.slotsFor(slots, meanNs, queue, slaNs), parts[1].signum() == 0 ? 1 : 0);
    }

    @Example
    void elasticDividesPeriodsByWhatTargetsNeed() {
        ElasticPolicy policy = new ElasticPolicy(PolicySettings.SUBMISSIONS.withQuantumNs(0));
        PolicySteps steps = new PolicySteps(policy).with(INTERACTIVE, TenantTerms.DEFAULT);
        policy.finished(1, 10 * MS, 0);
        policy.ready(1, 6, 0, 0); // 10 ms x 6 / 200 ms x 10 slots = 3 slots
        steps.ready(2);
        steps.nowNs = 100 * MS;
        policy.tick(steps.nowNs);
        long interactiveNs = 0;
        for (int i = 0; i < 100; i++) {
            TurnChoice.Turn turn = steps.turn();
            steps.use(turn.tenant(), MS);
            interactiveNs += turn.tenant() == 1 ? MS : 0;
            policy.ready(turn.tenant(), turn.tenant() == 1 ? 6 : 1, steps.nowNs, steps.nowNs);
            assertEquals(i < 30 ? 1 : 2, turn.tenant(), "interactive tenants first, turn " + i);
        }
        assertEquals(30 * MS, interactiveNs);
    }

    @Example
    void elasticEndsABatchTurnWhileInteractiveTenantsHaveTime() {
        ElasticPolicy policy = new ElasticPolicy(PolicySettings.SUBMISSIONS);
        PolicySteps steps = new PolicySteps(policy).with(INTERACTIVE, TenantTerms.DEFAULT);
        steps.ready(2);
        steps.turn();
        steps.ready(1);
        assertFalse(policy.preempts(2, steps.nowNs), "it has no slot before the next period");
        steps.nowNs = policy.nextTickNs();
        assertEquals(100 * MS, steps.nowNs);
        assertTrue(policy.preempts(2, steps.nowNs));
        assertFalse(policy.preempts(1, steps.nowNs));
    }

    /** Constant bandwidth server: time used while others waited postpones the deadline by a period for each budget. */
    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void deadlinesArePutOffByWhatWasUsed(@ForAll long seed) {
        Random random = new Random(seed);
        int weight = 1 + random.nextInt(9);
        DeadlinePolicy policy = new DeadlinePolicy(PolicySettings.SUBMISSIONS);
        PolicySteps steps = new PolicySteps(policy).with(TenantTerms.DEFAULT.withWeight(weight).withTargetNs(100 * MS), TenantTerms.DEFAULT);
        steps.ready(2, 1);
        long firstNs = policy.tenant(1).deadlineNs;
        assertEquals(100 * MS, firstNs);
        long fullNs = (long) (100 * MS * ((double) weight / (weight + 1)));
        long usedNs = 0;
        for (int i = 0; i < 50; i++) {
            long requestNs = 1 + random.nextLong(30 * MS);
            steps.policy.charged(1, requestNs, 0);
            usedNs += requestNs;
            assertEquals(firstNs + usedNs / fullNs * 100 * MS, policy.tenant(1).deadlineNs, "seed " + seed);
        }
    }

    /** Under a small weight one turn postpones the deadline by hours; a later change of that weight applies at once. */
    @Example
    void deadlinesOfEarlierTermsMakeNobodyWait() {
        PolicySteps steps = new PolicySteps(new DeadlinePolicy(PolicySettings.SUBMISSIONS)).with(TenantTerms.DEFAULT,
                TenantTerms.DEFAULT.withWeight(TenantTerms.MAX_WEIGHT));
        steps.ready(1, 2);
        for (int i = 0; i < 100; i++) {
            steps.turnOf(25 * MS);
        }
        steps.policy.changed(2, TenantTerms.DEFAULT, steps.nowNs);
        long turns = IntStream.range(0, 400).filter(_ -> steps.turnOf(25 * MS) == 1).count();
        assertTrue(Math.abs(turns - 200) <= 40, turns + " turns of 400");
    }

    @Example
    void theEarliestDeadlineIsNext() {
        DeadlinePolicy policy = new DeadlinePolicy(PolicySettings.SUBMISSIONS);
        PolicySteps steps = new PolicySteps(policy).with(TenantTerms.DEFAULT, INTERACTIVE, INTERACTIVE.withTargetNs(50 * MS));
        steps.ready(1);
        assertEquals(1, steps.turn().tenant());
        steps.ready(2, 3);
        assertTrue(policy.preempts(1, steps.nowNs));
        assertEquals(3, steps.turn().tenant(), "50 ms");
        assertFalse(policy.preempts(3, steps.nowNs));
        assertEquals(2, steps.turn().tenant(), "200 ms");
        assertEquals(TurnChoice.NOBODY, policy.next(steps.nowNs), "the batch tenant with 2 s still has its turn");
    }
}
