package io.tessera.manager.schedule.mode;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.AutoSettings;
import io.tessera.manager.schedule.turn.HandoverTimes;
import io.tessera.manager.schedule.turn.ScheduleSettings;
import org.junit.jupiter.api.Test;

/** The small parts that the scheduler reckons with. */
class MeasurementsTest {
    private static final long MS = 1_000_000L;

    @Test
    void theMedianIsThatOfTheLast256() {
        HandoverTimes times = new HandoverTimes();
        assertEquals(0, times.medianNs());
        times.add(7);
        assertEquals(7, times.medianNs());
        for (int i = 0; i < 1000; i++) {
            times.add(1_000_000);
        }
        for (int i = 1; i <= 256; i++) {
            times.add(i);
        }
        assertEquals(128, times.medianNs());
    }

    @Test
    void aSteadyRateIsSureAndAnUnsteadyOneIsNot() {
        RateMeter steady = new RateMeter();
        RateMeter unsteady = new RateMeter();
        for (int i = 0; i < 8; i++) {
            steady.add(100 * (i + 1), 10 * (i + 1));
            unsteady.add(i % 2 == 0 ? 0 : 200, 10);
        }
        assertEquals(10.0, steady.rate(), 1e-12);
        // Nothing but half a count of 3600.
        assertEquals(0.5 / 3600, steady.relativeError(), 1e-12);
        assertEquals(10.0, unsteady.rate(), 1e-12);
        // Eight samples that are off by all of the mean: 1 / sqrt(7).
        assertEquals(1 / Math.sqrt(7), unsteady.relativeError(), 1e-6);
        RateMeter few = new RateMeter();
        few.add(1, 1);
        assertTrue(Double.isInfinite(few.relativeError()));
    }

    @Test
    void aMeterForgetsWhatIsOld() {
        RateMeter meter = new RateMeter();
        for (int i = 0; i < 100; i++) {
            meter.add(1, 1);
        }
        for (int i = 0; i < 32; i++) {
            meter.add(5, 1);
        }
        assertEquals(5.0, meter.rate(), 1e-12);
        assertEquals(32, meter.size());
    }

    @Test
    void timeAtTheGateIsNotAClientsOwn() {
        TurnWork work = new TurnWork();
        work.restart(0);
        work.waiting(true, 0);
        work.granted(0, 100);
        work.waiting(false, 100);
        work.drained(50, 200);
        // 40 on the host before it wants again: its own.
        work.waiting(true, 240);
        assertEquals(1, work.rate.size());
        assertEquals(50.0 / 140, work.rate.rate(), 1e-12);
        work.measure(300, 300);
        assertEquals(1 - (100 + 60) / 300.0, work.ownShare(), 1e-12);
    }

    @Test
    void trialsCostNoMoreThanTheirShare() {
        AutoSettings settings = AutoSettings.defaults();
        TrialBudget budget = new TrialBudget(settings, 0);
        long lost = 0;
        long endNs = 3_600_000 * MS;
        for (long now = 0; now < endNs; now += 250 * MS) {
            // As if the load changed all the time.
            budget.restart(now);
            if (budget.allows(now)) {
                budget.lost(100 * MS, now);
                lost += 100 * MS;
            }
        }
        long bound = (long) (settings.trialCostShare() * endNs) + settings.trialAllowanceNs() + 100 * MS;
        long spent = lost;
        assertTrue(spent <= bound, () -> spent / MS + " ms lost of " + bound / MS);
        assertTrue(spent >= bound / 2, () -> "hardly any trial: " + spent / MS + " ms");
    }

    @Test
    void backOffDoublesUpToItsLimit() {
        TrialBudget budget = new TrialBudget(AutoSettings.defaults(), 0);
        long now = 0;
        for (long waitedMs : new long[] {10_000, 20_000, 40_000, 60_000, 60_000}) {
            budget.lost(0, now);
            assertFalse(budget.allows(now + waitedMs * MS - 1));
            now += waitedMs * MS;
            assertTrue(budget.allows(now));
        }
    }

    @Test
    void settingsAreChecked() {
        ScheduleSettings settings = ScheduleSettings.defaults();
        assertEquals(25 * MS, settings.paceForNs(100 * MS));
        assertEquals(5 * MS, settings.paceForNs(MS));
        assertEquals(50 * MS, settings.paceForNs(5000 * MS));
        assertEquals(7 * MS, settings.withPaceNs(7 * MS).paceForNs(100 * MS));
        assertEquals(100 * MS, settings.loosePaceNs(100 * MS));
        assertEquals(5 * MS, settings.loosePaceNs(MS));
        assertEquals(250 * MS, settings.loosePaceNs(5000 * MS));
        assertEquals(400 * MS, settings.withPaceNs(400 * MS).loosePaceNs(100 * MS));
        assertEquals(10, settings.withTotalBytes(10).effectiveCapacityBytes());
        assertEquals(5, settings.withTotalBytes(10).withCapacityBytes(5).effectiveCapacityBytes());
        assertThrows(IllegalArgumentException.class, () -> settings.withQuantumNs(MS - 1));
        assertThrows(IllegalArgumentException.class, () -> settings.withGraceNs(0));
        assertThrows(IllegalArgumentException.class, () -> settings.withCapacityBytes(-1));
        assertThrows(IllegalArgumentException.class, () -> settings.withIdleReleaseNs(0));
        assertThrows(IllegalArgumentException.class, () -> settings.withPaceNs(-1));
        assertThrows(NullPointerException.class, () -> settings.withDrainPolicy(null));
        assertThrows(IllegalArgumentException.class, () -> settings.auto().withMarginShare(0));
        assertThrows(IllegalArgumentException.class, () -> settings.auto().withRetrialNs(10, 5));
    }
}
