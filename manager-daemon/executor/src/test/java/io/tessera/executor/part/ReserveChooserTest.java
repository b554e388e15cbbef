package io.tessera.executor.part;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests which tenants are kept off the reserve, and for which tenant. Tenants are modelled by the fraction of the time in which they have work on the device.
 */
class ReserveChooserTest {
    private static final long LOOK_NS = 1_000_000L;
    private static final long SECOND_NS = 1_000_000_000L;

    private final ReserveChooser chooser = new ReserveChooser();
    private final List<Modelled> all = new ArrayList<>();
    private final Random random = new Random(7);
    private long nowNs = 17 * SECOND_NS;

    /** A tenant that is busy for a part of the time, which is smaller while the others are kept off the reserve. */
    private final class Modelled {
        private final ReserveChooser.Tenant tenant = chooser.join();
        private double beside;
        private double reserved;
        private long confinedLooks;
        private boolean full;
        private boolean interactive;
        private long lastBusyNs = Long.MIN_VALUE / 2;
        /** Requests to make up for. */
        private double waiting;

        private Modelled(double beside, double reserved) {
            this.beside = beside;
            this.reserved = reserved;
            all.add(this);
        }

        private boolean isActive() {
            return nowNs - lastBusyNs < ReserveChooser.ACTIVE_NS;
        }

        /** Returns whether the chooser takes it for one that needs little. */
        private boolean isLight() {
            return tenant.isLight();
        }

        private boolean isBusy() {
            boolean others = all.stream().anyMatch(other -> other != this && other.beside > 0);
            boolean kept = all.stream().filter(other -> other != this).allMatch(other -> other.tenant.part() != ProcessorParts.WHOLE);
            if (kept && waiting > 0) {
                waiting -= 1 / 1.5 - 0.1;
                return true;
            }
            return random.nextDouble() < (others && !kept ? beside : reserved);
        }
    }

    private void pass(double seconds) {
        for (long look = 0; look < seconds * SECOND_NS / LOOK_NS; look++) {
            nowNs += LOOK_NS;
            for (Modelled each : all) {
                boolean busy = each.isBusy();
                each.lastBusyNs = busy ? nowNs : each.lastBusyNs;
                chooser.saw(each.tenant, busy, each.full, nowNs);
            }
            chooser.decide(nowNs);
            all.forEach(each -> each.confinedLooks += each.tenant.part() == ProcessorParts.WHOLE ? 0 : 1);
        }
    }

    private Modelled heavy;

    @BeforeEach
    void oneHeavyTenant() {
        heavy = new Modelled(1, 1);
        pass(3);
    }

    @Test
    void aloneATenantHasAllProcessors() {
        assertEquals(0, heavy.confinedLooks);
    }

    @Test
    void aTenantThatWaitsForOthersAndNeedsLittleGetsAReserveWithinASecond() {
        Modelled light = new Modelled(1, 0.15);
        pass(1.2);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        assertEquals(ProcessorParts.WHOLE, light.tenant.part());
        long before = light.confinedLooks;
        pass(30);
        assertEquals(before, light.confinedLooks);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
    }

    @Test
    void whoQueuesLeastAheadIsTriedFirst() {
        Modelled light = new Modelled(1, 0.15);
        Modelled late = new Modelled(1, 1);
        late.full = true;
        heavy.full = true;
        pass(1);
        assertEquals(ProcessorParts.MOST, late.tenant.part());
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        assertEquals(0, light.confinedLooks);
    }

    @Test
    void oneThatWasAloneIsKnown() {
        heavy.beside = 0;
        heavy.reserved = 0;
        Modelled light = new Modelled(1, 0.15);
        pass(3);
        heavy.beside = 1;
        heavy.reserved = 1;
        pass(0.01);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        pass(5);
        assertEquals(0, light.confinedLooks);
    }

    /** Whenever a tenant stops that was alone and always busy, it does not count as one that needs little. */
    @Test
    void oneThatStopsIsNotLight() {
        new Modelled(0, 0);
        for (int stop = 0; stop < 50; stop++) {
            heavy.beside = 1;
            heavy.reserved = 1;
            pass(2 + stop * 0.007);
            heavy.beside = 0;
            heavy.reserved = 0;
            for (int look = 0; look < 100; look++) {
                pass(0.01);
                assertFalse(heavy.isLight(), "stop " + stop + ", look " + look);
            }
        }
    }

    /** A tenant that was busy for some seconds, in which the other one paused, and is idle now. */
    private Modelled warmedUpAlone() {
        heavy.beside = 0;
        heavy.reserved = 0;
        Modelled tenant = new Modelled(1, 1);
        pass(3);
        tenant.reserved = 0;
        tenant.beside = 0;
        return tenant;
    }

    /** Both begin in the same moment, the small one first; the large one has queued as much as it may. */
    @Test
    void oneThatComesBackWithTheOthersIsTriedAtOnce() {
        Modelled light = warmedUpAlone();
        pass(1);
        light.beside = 1;
        light.reserved = 0.15;
        pass(0.005);
        heavy.beside = 1;
        heavy.reserved = 1;
        heavy.full = true;
        pass(0.02);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        pass(5);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        assertEquals(0, light.confinedLooks);
    }

    /** Both have warmed up alone, and come back in the same moment, the large one last. */
    private Modelled bothComeBack() {
        Modelled light = warmedUpAlone();
        heavy.beside = 1;
        heavy.reserved = 1;
        pass(1);
        heavy.beside = 0;
        heavy.reserved = 0;
        pass(1);
        light.beside = 1;
        light.reserved = 1;
        pass(0.002);
        light.reserved = 0.15;
        heavy.beside = 1;
        heavy.reserved = 1;
        return light;
    }

    /** Both begin in the same moment, the large one last, and it has queued as much as it may only some time later. */
    @Test
    void oneThatFillsItsQueueInItsFirstTrialGivesWayToTheOtherThatCame() {
        Modelled light = bothComeBack();
        pass(0.02);
        assertEquals(ProcessorParts.WHOLE, heavy.tenant.part(), "it came last, and nothing tells them apart yet");
        heavy.full = true;
        pass((ReserveChooser.FULL_LOOKS + 2) * (double) LOOK_NS / SECOND_NS);
        long confined = light.confinedLooks;
        pass(9);
        assertEquals(confined, light.confinedLooks);
        assertTrue(heavy.confinedLooks > 8_900, heavy.confinedLooks + " looks of 9,000");
    }

    /** The large one waits for each of its results, so that it is tried to the end. */
    @Test
    void oneThatCameDuringAnothersTrialIsTriedAfterIt() {
        Modelled light = bothComeBack();
        pass((ReserveChooser.LONGEST_TRIAL_NS + ReserveChooser.SETTLE_NS) / (double) SECOND_NS + 0.3);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        assertEquals(ProcessorParts.WHOLE, light.tenant.part());
    }

    @Test
    void oneThatWarmedUpAloneIsTriedAtOnceWhenItComesBack() {
        Modelled light = warmedUpAlone();
        heavy.beside = 1;
        heavy.reserved = 1;
        pass(1);
        light.beside = 1;
        light.reserved = 0.15;
        pass(0.02);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        pass(5);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
    }

    @Test
    void aTrialOfWhoWasNotLightEndsWhereALightOneHasWork() {
        Modelled light = new Modelled(0, 0);
        light.tenant.interactive(true);
        Modelled other = new Modelled(1, 1);
        pass(60);
        light.beside = 1;
        light.reserved = 1;
        for (int look = 0; look < 100; look++) {
            pass(0.001);
            assertEquals(look == 0 ? heavy.tenant.part() : ProcessorParts.FEWER, heavy.tenant.part(), "look " + look);
            assertEquals(look == 0 ? other.tenant.part() : ProcessorParts.FEWER, other.tenant.part(), "look " + look);
        }
    }

    @Test
    void whoComesIsTriedAtOnce() {
        Modelled light = new Modelled(1, 0.15);
        pass(0.01);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        pass(9);
        assertEquals(0, light.confinedLooks);
        assertTrue(heavy.confinedLooks > 8_900, heavy.confinedLooks + " looks of 9,010");
    }

    @Test
    void whoComesBesideALightAndAHeavyTenantIsTriedToo() {
        new Modelled(1, 0.15);
        pass(1);
        Modelled second = new Modelled(1, 0.1);
        pass(0.5);
        assertEquals(ProcessorParts.WHOLE, second.tenant.part());
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
    }

    @Test
    void theReserveIsGivenBackWhenTheLightTenantHasNoWork() {
        Modelled light = new Modelled(1, 0.15);
        pass(3);
        light.beside = 0;
        light.reserved = 0;
        pass(0.6);
        assertEquals(ProcessorParts.WHOLE, heavy.tenant.part());
        light.beside = 1;
        light.reserved = 0.15;
        pass(0.1);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part(), "it is known from before");
    }

    /** However long the pause was, and although the other one has been alone meanwhile. */
    @Test
    void oneThatNeedsLittleIsKnownAfterAPause() {
        Modelled light = new Modelled(1, 0.15);
        pass(3);
        for (int pause = 1; pause < 100; pause = 3 * pause) {
            light.beside = 0;
            light.reserved = 0;
            pass(pause);
            assertEquals(ProcessorParts.WHOLE, heavy.tenant.part());
            light.beside = 1;
            light.reserved = 0.15;
            long before = heavy.confinedLooks;
            pass(5);
            assertTrue(heavy.confinedLooks - before > 4_950, heavy.confinedLooks - before + " looks of 5,000 after " + pause + " s");
        }
        assertEquals(0, light.confinedLooks);
    }

    /** Programs warm up beside each other; then one works alone, and the other comes back with requests that are waited for. */
    @Test
    void whoComesIsTriedAndNotWhoWasAloneUntilThen() {
        Modelled light = new Modelled(1, 1);
        pass(30);
        light.beside = 0;
        light.reserved = 0;
        pass(100);
        light.beside = 1;
        light.reserved = 0.15;
        pass(0.01);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        pass(5);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
    }

    /** While it waits for others a request comes every 10 ms; each takes 1.5 ms where others are kept off the reserve. */
    @Test
    void oneThatHasRequestsToMakeUpForIsFoundToo() {
        Modelled light = new Modelled(1, 0.15);
        light.waiting = 400;
        pass(2);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        assertEquals(ProcessorParts.WHOLE, light.tenant.part());
    }

    @Test
    void twoTenantsThatNeedAllHaveAllButForTrials() {
        Modelled other = new Modelled(1, 1);
        heavy.full = true;
        other.full = true;
        pass(120);
        long looks = 120 * SECOND_NS / LOOK_NS;
        assertTrue(heavy.confinedLooks + other.confinedLooks < 0.03 * looks, heavy.confinedLooks + " and " + other.confinedLooks + " of " + looks);
    }

    @Test
    void twoThatNeedAllAndQueueNothingAheadHaveAllButForLongerTrials() {
        Modelled other = new Modelled(1, 1);
        pass(120);
        long looks = 120 * SECOND_NS / LOOK_NS;
        assertTrue(heavy.confinedLooks + other.confinedLooks < 0.12 * looks, heavy.confinedLooks + " and " + other.confinedLooks + " of " + looks);
    }

    @Test
    void aTenantThatDoesNotWaitGetsNoReserve() {
        new Modelled(0.16, 0.15);
        pass(12);
        heavy.confinedLooks = 0;
        pass(120);
        assertTrue(heavy.confinedLooks < 0.03 * 120 * SECOND_NS / LOOK_NS, heavy.confinedLooks + " looks");
    }

    @Test
    void oneThatBecomesHeavyLosesItsReserve() {
        Modelled light = new Modelled(1, 0.15);
        pass(3);
        light.reserved = 1;
        pass(3);
        assertEquals(ProcessorParts.WHOLE, heavy.tenant.part());
    }

    @Test
    void interactiveTenantsGetALargeReserveAtOnce() {
        Modelled light = new Modelled(1, 1);
        light.tenant.interactive(true);
        pass(0.01);
        assertEquals(ProcessorParts.FEWER, heavy.tenant.part());
        assertEquals(ProcessorParts.WHOLE, light.tenant.part());
        light.tenant.interactive(false);
        pass(2);
        assertEquals(ProcessorParts.WHOLE, heavy.tenant.part());
    }

    @Test
    void twoLightTenantsShareAllBesideNobodyAndTheReserveBesideAHeavyOne() {
        Modelled first = new Modelled(1, 0.15);
        pass(3);
        Modelled second = new Modelled(1, 0.1);
        second.beside = 0.9;
        second.reserved = 0.1;
        pass(5);
        assertEquals(ProcessorParts.MOST, heavy.tenant.part());
        assertEquals(ProcessorParts.WHOLE, first.tenant.part());
    }

    @Test
    void whoLeavesInATrialEndsIt() {
        Modelled light = new Modelled(1, 0.15);
        pass(0.25);
        chooser.leave(light.tenant);
        all.remove(light);
        pass(0.01);
        assertEquals(ProcessorParts.WHOLE, heavy.tenant.part());
    }

    /**
     * Tenants come, work, change and go at random: a tenant that is alone has all processors, and interactive tenants have a reserve
     * whenever they work.
     */
    @Test
    void whateverHappensInteractiveTenantsHaveTheirReserveAndOneAloneHasAll() {
        chooser.leave(heavy.tenant);
        all.remove(heavy);
        for (int step = 0; step < 20_000; step++) {
            change();
            pass(0.005);
            List<Modelled> active = all.stream().filter(each -> each.isActive()).toList();
            for (Modelled each : active) {
                boolean interactive = active.stream().anyMatch(other -> other != each && other.interactive);
                int least = each.interactive || active.size() == 1 ? ProcessorParts.WHOLE : interactive ? ProcessorParts.FEWER : -1;
                assertTrue(
                        least < 0 || each.tenant.part() == least || !each.interactive && each.tenant.part() == ProcessorParts.WHOLE && each.isLight(),
                        "step " + step + ": part " + each.tenant.part() + ", expected " + least);
            }
        }
    }

    private void change() {
        int kind = random.nextInt(60);
        if (kind == 0 && all.size() < 5) {
            new Modelled(random.nextDouble(), random.nextDouble());
        } else if (kind == 1 && !all.isEmpty()) {
            chooser.leave(all.remove(random.nextInt(all.size())).tenant);
        } else if (kind == 2 && !all.isEmpty()) {
            Modelled one = all.get(random.nextInt(all.size()));
            boolean rests = random.nextBoolean();
            one.reserved = rests ? 0 : random.nextDouble();
            one.beside = rests ? 0 : Math.max(one.reserved, random.nextDouble());
            one.full = random.nextBoolean();
        } else if (kind == 3 && !all.isEmpty()) {
            Modelled one = all.get(random.nextInt(all.size()));
            one.interactive = !one.interactive;
            one.tenant.interactive(one.interactive);
        }
    }
}
