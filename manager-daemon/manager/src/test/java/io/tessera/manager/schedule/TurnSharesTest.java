package io.tessera.manager.schedule;

import static io.tessera.manager.schedule.SimulatedGpu.MS;
import static io.tessera.manager.schedule.SimulatedGpu.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.ScheduleSettings;
import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shares, caps and priorities in turns, on the simulated GPU with its drains and the time that messages take. */
class TurnSharesTest {
    private static final TenantTerms DEFAULT = TenantTerms.DEFAULT;

    /** Kernels of 600 us: 15 times as long as {@link Workload#GPU_BOUND}'s. */
    private static final Workload LONGER = new Workload(16, 8_000, 600_000, 0, false);

    private final SimulatedGpu gpu = new SimulatedGpu(ScheduleSettings.defaults(), SchedulerMode.AUTO);

    private SimulatedGpuClient weighted(Workload workload, String tenant, int weight) {
        return gpu.add(workload, tenant, DEFAULT.withWeight(weight));
    }

    /** The largest distance from a share in any second after the first two, and in the whole. */
    private void assertShare(SimulatedGpuClient client, double share, long untilNs, double tolerance) {
        double worst = 0;
        List<String> parts = new ArrayList<>();
        for (long fromNs = 2 * SECOND; fromNs + SECOND <= untilNs; fromNs += SECOND) {
            double allNs = 0;
            for (SimulatedGpuClient one : gpu.clients) {
                allNs += gpu.workNs(one, fromNs, fromNs + SECOND);
            }
            double part = gpu.workNs(client, fromNs, fromNs + SECOND) / allNs;
            parts.add(String.format("%.3f", part));
            worst = Math.max(worst, Math.abs(part - share));
        }
        assertTrue(worst <= tolerance, "client " + client.id + " has " + parts + " of the seconds");
    }

    @ParameterizedTest
    @EnumSource(value = PolicyName.class, names = {"ROUND_ROBIN", "FAIR", "CREDIT"})
    void weightsAreKeptInEverySecond(PolicyName policy) {
        gpu.scheduler.policy(policy, 0);
        SimulatedGpuClient three = weighted(Workload.GPU_BOUND, "three", 3);
        SimulatedGpuClient one = weighted(LONGER, "one", 1);
        gpu.runUntil(12 * SECOND);
        assertTrue(gpu.scheduler.snapshot(12 * SECOND).reason().startsWith("turns: tenants have different shares"));
        assertShare(three, 0.75, 12 * SECOND, policy == PolicyName.CREDIT ? 0.1 : 0.02);
        double allNs = gpu.workNs(three, 2 * SECOND, 12 * SECOND) + gpu.workNs(one, 2 * SECOND, 12 * SECOND);
        assertEquals(0.75, gpu.workNs(three, 2 * SECOND, 12 * SECOND) / allNs, 0.02);
        assertTrue(allNs / (10.0 * SECOND) > 0.97, "utilisation " + allNs / (10.0 * SECOND));
    }

    @Test
    void aTenantHasItsShareWithAnyNumberOfClients() {
        SimulatedGpuClient one = weighted(Workload.GPU_BOUND, "several", 1);
        SimulatedGpuClient two = weighted(Workload.GPU_BOUND, "several", 1);
        SimulatedGpuClient alone = weighted(Workload.GPU_BOUND, "alone", 1);
        gpu.scheduler.mode(SchedulerMode.ON, 0);
        gpu.runUntil(10 * SECOND);
        assertShare(alone, 0.5, 10 * SECOND, 0.02);
        assertEquals(1.0, gpu.workNs(one, 2 * SECOND, 10 * SECOND) / gpu.workNs(two, 2 * SECOND, 10 * SECOND), 0.1);
    }

    @Test
    void weightsChangeLive() {
        SimulatedGpuClient one = weighted(Workload.GPU_BOUND, "one", 1);
        SimulatedGpuClient two = weighted(Workload.GPU_BOUND, "two", 1);
        gpu.runUntil(5 * SECOND);
        gpu.scheduler.terms("two", DEFAULT.withWeight(9), 5 * SECOND);
        gpu.runUntil(15 * SECOND);
        double part = gpu.workNs(two, 7 * SECOND, 15 * SECOND) / (8.0 * SECOND);
        assertEquals(0.9, part, 0.02);
        gpu.scheduler.terms("two", DEFAULT, 15 * SECOND);
        gpu.runUntil(25 * SECOND);
        assertEquals(1.0, gpu.workNs(one, 17 * SECOND, 25 * SECOND) / gpu.workNs(two, 17 * SECOND, 25 * SECOND), 0.05);
    }

    @Test
    void aHardCapHoldsForATenantThatIsAlone() {
        SimulatedGpuClient capped = gpu.add(Workload.GPU_BOUND, "capped", DEFAULT.withHardCap(0.3));
        gpu.runUntil(10 * SECOND);
        assertEquals(0.3, gpu.workNs(capped, 2 * SECOND, 10 * SECOND) / (8.0 * SECOND), 0.03);
        gpu.scheduler.terms("capped", DEFAULT, 10 * SECOND);
        gpu.runUntil(12 * SECOND);
        assertTrue(gpu.workNs(capped, 10 * SECOND + 500 * MS, 12 * SECOND) / (1.5 * SECOND) > 0.98);
        assertFalse(gpu.scheduler.snapshot(12 * SECOND).exclusive(), "nothing needs turns any more");
    }

    @Test
    void aSoftCapHoldsWhileSomebodyElseHasWork() {
        SimulatedGpuClient capped = gpu.add(Workload.GPU_BOUND, "capped", DEFAULT.withSoftCap(0.2));
        gpu.runUntil(5 * SECOND);
        assertTrue(gpu.workNs(capped, 0, 5 * SECOND) / (5.0 * SECOND) > 0.97, "alone it has the device");
        SimulatedGpuClient other = gpu.add(Workload.GPU_BOUND, "other", DEFAULT);
        gpu.runUntil(15 * SECOND);
        double part = gpu.workNs(capped, 7 * SECOND, 15 * SECOND) / (8.0 * SECOND);
        assertEquals(0.2, part, 0.03);
        assertTrue(gpu.workNs(other, 7 * SECOND, 15 * SECOND) / (8.0 * SECOND) > 0.77);
    }

    @Test
    void anInteractiveTenantEndsABatchTenantsTurn() {
        gpu.scheduler.policy(PolicyName.PRIORITY, 0);
        Workload requests = new Workload(20, 8_000, 50_000, 50 * MS, true);
        SimulatedGpuClient interactive = gpu.add(requests, "interactive", DEFAULT.withClass(TenantClass.INTERACTIVE));
        SimulatedGpuClient batch = gpu.add(Workload.GPU_BOUND, "batch", DEFAULT);
        gpu.runUntil(10 * SECOND);
        // A request takes 1 ms on the device. The batch tenant's queue is a quarter of a turn at most, bounded to 50 ms.
        double requestsPerSecond = interactive.completedKernels / 20.0 / 10;
        assertTrue(requestsPerSecond > 1000.0 / (50 + 1 + 52), requestsPerSecond + " requests a second");
        assertTrue(gpu.workNs(batch, 2 * SECOND, 10 * SECOND) / (8.0 * SECOND) > 0.9);
    }

    @Test
    void whatWasSetDoesNotHoldWhereEverybodyMayRun() {
        weighted(Workload.GPU_BOUND, "three", 3);
        weighted(Workload.GPU_BOUND, "one", 1);
        gpu.scheduler.mode(SchedulerMode.OFF, 0);
        gpu.runUntil(SECOND);
        assertTrue(gpu.scheduler.snapshot(SECOND).reason().endsWith("; shares and caps do not hold"));
        gpu.scheduler.mode(SchedulerMode.AUTO, SECOND);
        gpu.scheduler.spans(true, SECOND);
        assertFalse(gpu.scheduler.snapshot(SECOND).exclusive(), "turns on several devices may stand still");
    }

    @Test
    void aPolicyThatDoesNotLookAtAClassNeedsNoTurnsForIt() {
        gpu.add(Workload.HALF, "interactive", DEFAULT.withClass(TenantClass.INTERACTIVE));
        gpu.add(Workload.HALF, "batch", DEFAULT);
        gpu.runUntil(100 * MS);
        assertFalse(gpu.scheduler.snapshot(100 * MS).exclusive());
        for (PolicyName policy : List.of(PolicyName.PRIORITY, PolicyName.ELASTIC, PolicyName.DEADLINE)) {
            gpu.scheduler.policy(policy, 100 * MS);
            assertTrue(gpu.scheduler.snapshot(100 * MS).exclusive(), policy.text());
        }
    }
}
