package io.tessera.policy;

import static io.tessera.policy.PolicySteps.MS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** {@code credit} and {@code band} compared with GPUvm's implementation: period P of 100 ms, refill by weight of worked and idle time. */
class CreditPoliciesTest {
    private static final PolicySettings SETTINGS = PolicySettings.SUBMISSIONS.withQuantumNs(0);

    private static long budgetNs(CreditBook book, long tenant) {
        return book.tenant(tenant).budgetNs;
    }

    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void periodsHandOutWhatWasWorkedAndIdled(@ForAll long seed) {
        Random random = new Random(seed);
        CreditPolicy policy = new CreditPolicy(SETTINGS);
        PolicySteps steps = new PolicySteps(policy).with(TenantTerms.DEFAULT.withWeight(3), TenantTerms.DEFAULT);
        long busyNs = 0;
        long idleNs = 0;
        for (int request = 0; request < 6; request++) {
            long gapNs = random.nextLong(5 * MS);
            steps.nowNs += gapNs;
            idleNs += gapNs;
            steps.ready(1);
            assertEquals(1, steps.turn().tenant());
            steps.ready(2); // another tenant waits, so that used time is charged
            long usedNs = random.nextLong(5 * MS);
            steps.nowNs += MS / 2; // the scheduler's own time
            steps.use(1, usedNs);
            busyNs += usedNs;
            steps.policy.blocked(1, steps.nowNs);
            steps.policy.blocked(2, steps.nowNs);
        }
        assertEquals(-busyNs, budgetNs(policy, 1), "seed " + seed);
        idleNs += 100 * MS - steps.nowNs;
        policy.tick(100 * MS);
        long handedOutNs = busyNs + idleNs;
        assertEquals(Math.min(75 * MS, -busyNs + handedOutNs * 3 / 4), budgetNs(policy, 1), 1, "seed " + seed);
        assertEquals(handedOutNs / 4, budgetNs(policy, 2), 1, "seed " + seed);
        assertTrue(handedOutNs < 100 * MS, "the scheduler's own time is nobody's");
    }

    @Example
    void creditPrefersWhoHasSomeAndStillServesWhoHasNone() {
        CreditPolicy policy = new CreditPolicy(SETTINGS);
        PolicySteps steps = new PolicySteps(policy).with(TenantTerms.DEFAULT, TenantTerms.DEFAULT, TenantTerms.DEFAULT);
        steps.ready(1, 2, 3);
        assertEquals(1, steps.turnOf(10 * MS), "the first of the list");
        assertEquals(2, steps.turnOf(MS), "the first has no credit any more");
        assertEquals(3, steps.turnOf(MS));
        assertEquals(1, steps.turnOf(MS), "nobody has: in the order of the list, to whose end each has gone");
        assertEquals(2, steps.turnOf(MS));
        steps.nowNs = 100 * MS;
        policy.tick(steps.nowNs);
        // Only the 14 ms of work are handed out: a tenant was ready all the time.
        assertEquals(-11 * MS + 14 * MS / 3, budgetNs(policy, 1), 1);
        assertEquals(2, steps.turnOf(MS), "of two that have credit again the first of the list");
        assertEquals(2, steps.turnOf(2 * MS), "which keeps its place while it has some");
        assertEquals(3, steps.turnOf(MS));
    }

    @Example
    void creditIsSavedUpForAPeriodAtMostAndDebtsAreKept() {
        BandPolicy policy = new BandPolicy(SETTINGS);
        PolicySteps steps = new PolicySteps(policy).with(TenantTerms.DEFAULT, TenantTerms.DEFAULT);
        steps.ready(1, 2);
        assertEquals(1, steps.turnOf(950 * MS));
        steps.policy.blocked(1, steps.nowNs);
        steps.policy.blocked(2, steps.nowNs);
        steps.nowNs += 300 * MS;
        policy.tick(steps.nowNs);
        assertEquals(50 * MS, budgetNs(policy, 2), "P / N, although much more was handed out");
        assertTrue(budgetNs(policy, 1) < -300 * MS, "a kernel longer than a period is paid for: " + budgetNs(policy, 1));
    }

    @Example
    void bandPrefersUnderThenBandThenOver() {
        BandPolicy policy = new BandPolicy(SETTINGS);
        PolicySteps steps = new PolicySteps(policy).with(TenantTerms.DEFAULT, TenantTerms.DEFAULT, TenantTerms.DEFAULT);
        steps.nowNs = 100 * MS;
        policy.tick(steps.nowNs); // an idle period: each gets a third of it
        steps.ready(1, 2, 3);
        assertEquals(1, steps.turnOf(5 * MS), "nothing was used: the first that has credit");
        assertEquals(2, steps.turnOf(MS), "1 has credit but has had more than its part");
        assertEquals(2, steps.turnOf(MS), "2 of 7 ms are less than a third, and it comes before 3");
        assertEquals(2, steps.turnOf(3 * MS), "2 of 7");
        assertEquals(3, steps.turnOf(MS), "2 and 1 have had more");
        policy.blocked(3, steps.nowNs);
        assertEquals(1, ((TurnChoice.Turn) policy.next(steps.nowNs + MS)).tenant(), "both over and with credit: the first of the list");
    }

    /** Returns a state in which tenant 1 has had too little and is done, and tenant 2, which has had too much, would follow. */
    private static PolicySteps beforeADelay(BandPolicy policy) {
        PolicySteps steps = new PolicySteps(policy).with(TenantTerms.DEFAULT, TenantTerms.DEFAULT);
        steps.nowNs = 100 * MS;
        policy.tick(steps.nowNs);
        steps.ready(2);
        steps.turnOf(10 * MS);
        steps.ready(1);
        assertEquals(1, steps.turn().tenant());
        steps.use(1, MS);
        policy.blocked(1, steps.nowNs);
        return steps;
    }

    @Example
    void bandWaitsForWhoHasHadTooLittle() {
        BandPolicy policy = new BandPolicy(SETTINGS);
        PolicySteps steps = beforeADelay(policy);
        assertEquals(new TurnChoice.Delay(steps.nowNs + MS / 2), policy.next(steps.nowNs), "no gap is known: 500 us");
        steps.nowNs += 100_000;
        assertEquals(new TurnChoice.Delay(steps.nowNs + 400_000), policy.next(steps.nowNs), "it goes on");
        steps.ready(1);
        assertEquals(1, steps.turn().tenant(), "it has come");
        steps.use(1, MS);
        policy.blocked(1, steps.nowNs);
        assertEquals(new TurnChoice.Delay(steps.nowNs + 200_000), policy.next(steps.nowNs), "twice its gap of 100 us");
        steps.nowNs += 200_000;
        assertEquals(2, steps.turn().tenant(), "it has not come");
    }

    @Example
    void bandDoesNotWaitForWhoIsIdleOrGone() {
        BandPolicy idle = new BandPolicy(SETTINGS);
        PolicySteps steps = beforeADelay(idle);
        idle.idle(1, steps.nowNs);
        assertEquals(2, steps.turn().tenant());
        BandPolicy gone = new BandPolicy(SETTINGS);
        steps = beforeADelay(gone);
        gone.left(1, steps.nowNs);
        assertEquals(2, steps.turn().tenant());
    }
}
