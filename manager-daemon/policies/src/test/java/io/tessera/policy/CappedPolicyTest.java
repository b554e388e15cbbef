package io.tessera.policy;

import static io.tessera.policy.PolicySteps.MS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class CappedPolicyTest {
    private static final TenantTerms HALF = TenantTerms.DEFAULT.withHardCap(0.5);

    @Test
    void aHardCapEndsTheTurnAndKeepsTheTenantOffTheDevice() {
        PolicySteps steps = new PolicySteps(PolicyName.FIFO.make(PolicySettings.SUBMISSIONS)).with(HALF);
        steps.ready(1);
        assertEquals(1, steps.turn().tenant());
        steps.use(1, 490 * MS);
        assertFalse(steps.policy.isOverCap(1, false, steps.nowNs), "250 ms saved up, 245 came, 490 used");
        steps.use(1, 30 * MS);
        assertTrue(steps.policy.isOverCap(1, false, steps.nowNs));
        assertFalse(steps.policy.preempts(1, steps.nowNs), "nobody goes first");
        steps.ready(1);
        assertEquals(TurnChoice.NOBODY, steps.policy.next(steps.nowNs));
        long againNs = steps.policy.nextTickNs();
        assertTrue(againNs > steps.nowNs && againNs <= steps.nowNs + 23 * MS,
                "10 ms are owed and 1 ms makes a turn, at half a millisecond a millisecond: " + againNs);
        steps.nowNs = againNs;
        assertEquals(1, steps.turn().tenant());
    }

    @Test
    void underASoftCapItRunsWhenNobodyElseIsReady() {
        PolicySteps steps = new PolicySteps(PolicyName.FIFO.make(PolicySettings.SUBMISSIONS));
        steps.with(TenantTerms.DEFAULT.withSoftCap(0.1), TenantTerms.DEFAULT);
        steps.ready(1);
        assertEquals(1, steps.turnOf(100 * MS));
        steps.ready(2);
        assertEquals(2, steps.turnOf(MS), "it came later, but the other is above its cap");
        assertEquals(2, steps.turnOf(MS));
        steps.policy.blocked(2, steps.nowNs);
        assertEquals(1, steps.turnOf(MS));
    }

    @Test
    void aCapThatIsTakenAwayHoldsNobodyBack() {
        PolicySteps steps = new PolicySteps(PolicyName.FAIR.make(PolicySettings.SUBMISSIONS)).with(HALF);
        steps.ready(1);
        steps.turnOf(900 * MS);
        assertEquals(TurnChoice.NOBODY, steps.policy.next(steps.nowNs));
        steps.policy.changed(1, TenantTerms.DEFAULT, steps.nowNs);
        assertEquals(1, steps.turn().tenant());
        assertEquals(Long.MAX_VALUE, steps.policy.nextTickNs());
    }

    @Test
    void whoLeftOrStoppedIsNotBroughtBack() {
        PolicySteps steps = new PolicySteps(PolicyName.FIFO.make(PolicySettings.SUBMISSIONS)).with(HALF, HALF);
        steps.ready(1, 2);
        assertEquals(1, steps.turnOf(900 * MS));
        steps.policy.left(1, steps.nowNs);
        assertEquals(2, steps.turnOf(2_500 * MS));
        steps.policy.blocked(2, steps.nowNs);
        steps.nowNs += 10_000 * MS;
        assertEquals(TurnChoice.NOBODY, steps.policy.next(steps.nowNs));
        assertEquals(Long.MAX_VALUE, steps.policy.nextTickNs());
    }

    @Test
    void whoComesBackOwesWhatItOwed() {
        PolicySteps steps = new PolicySteps(PolicyName.FIFO.make(PolicySettings.SUBMISSIONS)).with(HALF);
        steps.ready(1);
        steps.turnOf(1_500 * MS); // 250 ms were saved up and 750 came: the debt of 500 takes a second
        steps.policy.left(1, steps.nowNs);
        steps.nowNs += 400 * MS;
        steps.policy.joined(1, TenantTerms.DEFAULT, steps.nowNs);
        steps.policy.changed(1, HALF, steps.nowNs);
        steps.ready(1);
        assertEquals(TurnChoice.NOBODY, steps.policy.next(steps.nowNs));
        steps.nowNs += 610 * MS;
        assertEquals(1, steps.turnOf(1_000_000 * MS));
        steps.policy.left(1, steps.nowNs);
        steps.nowNs += CappedPolicy.KEPT_MINUTES * 60_000L * MS + 1;
        steps.policy.joined(1, HALF, steps.nowNs);
        steps.ready(1);
        assertEquals(1, steps.turn().tenant(), "after this time nothing is known of it");
    }

    @Test
    void debtsOfTenantsThatHaveLeftAreBoundedInNumber() {
        PolicySteps steps = new PolicySteps(PolicyName.FIFO.make(PolicySettings.SUBMISSIONS));
        for (long tenant = 1; tenant <= CappedPolicy.MOST_DEPARTED + 1; tenant++) {
            steps.policy.joined(tenant, HALF, steps.nowNs);
            steps.policy.charged(tenant, 100_000 * MS, steps.nowNs);
            steps.policy.left(tenant, steps.nowNs);
        }
        steps.with(HALF, HALF);
        assertFalse(steps.policy.isOverCap(1, false, steps.nowNs), "it left first");
        assertTrue(steps.policy.isOverCap(2, false, steps.nowNs));
    }

    @Test
    void termsAreChecked() {
        assertThrows(IllegalArgumentException.class, () -> TenantTerms.DEFAULT.withHardCap(0));
        assertThrows(IllegalArgumentException.class, () -> TenantTerms.DEFAULT.withSoftCap(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> TenantTerms.DEFAULT.withWeight(0));
        assertThrows(IllegalArgumentException.class, () -> TenantTerms.DEFAULT.withPriority(1001));
        assertThrows(IllegalArgumentException.class, () -> TenantTerms.DEFAULT.withTargetNs(-1));
        assertThrows(IllegalArgumentException.class, () -> PolicySettings.TURNS.withPeriodNs(0));
        assertThrows(IllegalArgumentException.class, () -> PolicySettings.TURNS.withSlots(0));
    }
}
