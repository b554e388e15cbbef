package io.tessera.executor.turn;

import static io.tessera.executor.turn.SimulatedGate.MS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.executor.turn.SimulatedGate.Program;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Turns inside a context, with the test's own clock and device. */
class GateTurnsTest {
    private static final TenantTerms ANY = TenantTerms.DEFAULT;
    private static final long SECOND = 1_000 * MS;

    private final SimulatedGate gate = new SimulatedGate();

    @Test
    void equalTenantsWithoutCapsAreNotHeldBack() {
        Program one = gate.program("one", ANY, MS);
        Program other = gate.program("other", ANY.withClass(TenantClass.INTERACTIVE), MS);
        assertFalse(gate.turns.isActive());
        gate.run(SECOND);
        assertTrue(one.tenant.open && other.tenant.open);
        assertTrue(gate.overlaps > 0);
    }

    @Test
    void oneAloneIsHeldBackByAHardCapOnly() {
        Program alone = gate.program("alone", ANY.withWeight(5).withPriority(3).withSoftCap(0.2), MS);
        assertFalse(gate.turns.isActive());
        gate.turns.change(alone.tenant, ANY.withHardCap(0.2), gate.nowNs);
        assertTrue(gate.turns.isActive());
    }

    @ParameterizedTest
    @EnumSource(names = {"ROUND_ROBIN", "FAIR", "CREDIT", "BAND"})
    void weightsAreThePartsOfTheTime(PolicyName policy) {
        gate.turns.share(policy, TurnUse.AUTO, gate.nowNs);
        Program heavy = gate.program("heavy", ANY.withWeight(3), 2 * MS);
        Program light = gate.program("light", ANY, 2 * MS);
        gate.run(10 * SECOND);
        assertEquals(3.0, (double) heavy.done / light.done, 0.4);
        assertTrue(gate.idleNs < SECOND / 2, "idle for " + gate.idleNs / MS + " ms of 10 s");
        assertTrue(gate.overlaps <= 1, "each has the device for itself");
    }

    @ParameterizedTest
    @EnumSource(names = {"ROUND_ROBIN", "FAIR"})
    void kernelsLongerThanATurnArePaidFor(PolicyName policy) {
        gate.turns.share(policy, TurnUse.AUTO, gate.nowNs);
        Program slow = gate.program("slow", ANY.withWeight(2), 25 * MS);
        Program quick = gate.program("quick", ANY, MS);
        gate.run(20 * SECOND);
        double part = slow.done * 25.0 / (slow.done * 25.0 + quick.done);
        assertEquals(2.0 / 3, part, 0.15);
    }

    @Test
    void aHardCapHoldsAlone() {
        Program capped = gate.program("capped", ANY.withHardCap(0.25), 2 * MS);
        gate.run(10 * SECOND);
        assertEquals(0.25, capped.done * 2.0 / 10_000, 0.03);
    }

    @Test
    void aHardCapHoldsBesideOthersWhoGetTheRest() {
        Program capped = gate.program("capped", ANY.withHardCap(0.1), 2 * MS);
        Program other = gate.program("other", ANY, 2 * MS);
        gate.run(10 * SECOND);
        assertEquals(0.1, capped.done * 2.0 / 10_000, 0.03);
        assertEquals(0.9, other.done * 2.0 / 10_000, 0.05);
    }

    @Test
    void aSoftCapHoldsWhileAnotherHasWork() {
        Program capped = gate.program("capped", ANY.withSoftCap(0.2), 2 * MS);
        Program other = gate.program("other", ANY, 2 * MS);
        gate.run(5 * SECOND);
        assertEquals(0.2, capped.done * 2.0 / 5_000, 0.05);
        other.pauses();
        gate.run(SECOND);
        long before = capped.done;
        gate.run(SECOND);
        assertTrue((capped.done - before) * 2 > 900, capped.done - before + " kernels of 2 ms in a second alone");
    }

    @Test
    void whoHasAHigherPriorityGoesFirst() {
        gate.turns.share(PolicyName.PRIORITY, TurnUse.AUTO, gate.nowNs);
        Program low = gate.program("low", ANY, 2 * MS);
        Program high = gate.program("high", ANY.withPriority(5), 2 * MS);
        gate.run(5 * SECOND);
        assertTrue(low.done <= 20, low.done + " of the lower priority while the other has work");
        assertTrue(high.done > 2_400);
        high.pauses();
        gate.run(SECOND);
        assertTrue(low.done > 450, "the rest is the lower one's");
    }

    @Test
    void aChangeActsWhileBothRun() {
        Program one = gate.program("one", ANY.withWeight(3), 2 * MS);
        Program other = gate.program("other", ANY, 2 * MS);
        gate.run(2 * SECOND);
        gate.turns.change(one.tenant, ANY, gate.nowNs);
        assertFalse(gate.turns.isActive(), "all are equal again");
        assertTrue(one.tenant.open && other.tenant.open);
        gate.turns.change(other.tenant, ANY.withWeight(4), gate.nowNs);
        long oneBefore = one.done;
        long otherBefore = other.done;
        gate.run(5 * SECOND);
        assertEquals(4.0, (double) (other.done - otherBefore) / (one.done - oneBefore), 0.6);
    }

    @Test
    void turnsThatAnOperatorAskedForAreTurns() {
        gate.turns.share(PolicyName.ROUND_ROBIN, TurnUse.ON, gate.nowNs);
        Program one = gate.program("one", ANY, 2 * MS);
        Program other = gate.program("other", ANY, 2 * MS);
        gate.run(2 * SECOND);
        assertTrue(gate.overlaps <= 1);
        assertEquals(1.0, (double) one.done / other.done, 0.1);
        gate.turns.share(PolicyName.ROUND_ROBIN, TurnUse.OFF, gate.nowNs);
        assertTrue(one.tenant.open && other.tenant.open);
    }

    @Test
    void whereTheSchedulerIsOffNothingIsHeldBack() {
        gate.turns.share(PolicyName.ROUND_ROBIN, TurnUse.OFF, gate.nowNs);
        gate.program("one", ANY.withWeight(3).withHardCap(0.1), MS);
        gate.program("other", ANY, MS);
        assertFalse(gate.turns.isActive());
    }

    @Test
    void whoSubmitsNothingDelaysNobody() {
        Program heavy = gate.program("heavy", ANY.withWeight(100), MS);
        Program other = gate.program("other", ANY, MS);
        heavy.left = 3;
        gate.run(100 * MS);
        assertEquals(3, heavy.done);
        long before = other.done;
        gate.run(SECOND);
        assertTrue(other.done - before >= 990, other.done - before + " kernels of 1 ms in a second alone");
    }

    @Test
    void whoDiesWhileItWaitsOrHasItsTurnIsLetGo() {
        Program one = gate.program("one", ANY.withWeight(3), MS);
        Program other = gate.program("other", ANY, MS);
        Program third = gate.program("third", ANY, MS);
        gate.run(SECOND);
        Program holder = one.tenant.open ? one : other.tenant.open ? other : third;
        Program waits = holder == one ? other : one;
        Program stays = holder != third && waits != third ? third : holder != other && waits != other ? other : one;
        waits.dies();
        holder.dies();
        long before = stays.done;
        gate.run(SECOND);
        assertTrue(stays.done - before >= 980, stays.done - before + " kernels of 1 ms in a second alone");
    }

    @Test
    void whatDoesNotEndIsNotWaitedForForEver() {
        Program stuck = gate.program("stuck", ANY.withWeight(2), 3_600 * SECOND);
        GateTenant other = gate.turns.join("other", ANY, () -> false, gate.nowNs);
        gate.run(100 * MS);
        assertTrue(stuck.tenant.open);
        gate.turns.waits(other, gate.nowNs);
        gate.run(SECOND);
        assertFalse(other.open, "it may end yet");
        gate.run(2 * SECOND);
        assertTrue(other.open);
    }

    @Test
    void aCapIsNotForgottenWhenItsTenantComesAgain() {
        long done = 0;
        for (int i = 0; i < 100; i++) {
            Program capped = gate.program("capped", ANY.withHardCap(0.2), 2 * MS);
            gate.run(100 * MS);
            done += capped.done;
            capped.dies();
        }
        assertEquals(0.2, done * 2.0 / 10_000, 0.06);
    }
}
