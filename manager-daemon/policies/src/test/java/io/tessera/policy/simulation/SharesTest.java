package io.tessera.policy.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.policy.PolicyName;
import io.tessera.policy.TenantTerms;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shares by weight, for tenants whose kernels differ in length by up to fifteen times and take at most 4 ms, within 2 percentage points. */
@Timeout(120)
class SharesTest {
    private static final long MS = 1_000_000L;
    private static final double POINTS = 0.02 + 1e-9;

    private static int[] weights(String text) {
        return Arrays.stream(text.split(":")).mapToInt(part -> (int) Math.round(10 * Double.parseDouble(part))).toArray();
    }

    private static void keepsShares(SchedulingTrace trace, SimulationSettings settings, long windowNs, double utilisation) {
        List<TraceTenant> tenants = trace.tenants();
        UsageBuckets windows = new UsageBuckets(tenants.size(), windowNs, 1_000);
        SimulationResult result = DeviceSimulation.run(trace, settings, windows);
        double sum = tenants.stream().mapToInt(tenant -> tenant.terms().weight()).sum();
        for (int window = 2; window < windows.windows(); window++) {
            double usedNs = 0;
            for (int i = 0; i < tenants.size(); i++) {
                usedNs += windows.usedNs(i, window);
            }
            for (int i = 0; i < tenants.size(); i++) {
                assertEquals(tenants.get(i).terms().weight() / sum, windows.usedNs(i, window) / usedNs, POINTS,
                        settings.policy() + ", window " + window + ", " + tenants.get(i).name());
            }
        }
        assertTrue(result.utilisation() >= utilisation, settings.policy() + ": " + result.utilisation());
    }

    @ParameterizedTest
    @ValueSource(strings = {"50:50", "75:25", "25:75", "90:10", "10:90", "66:34", "50:25:12.5:12.5"})
    void ofQueuesOver500Ms(String shares) {
        for (PolicyName policy : List.of(PolicyName.FAIR, PolicyName.CREDIT, PolicyName.BAND)) {
            keepsShares(LoopGenerator.weighted(weights(shares)), SimulationSettings.submissions(policy, 20_000 * MS), 500 * MS, 0.99);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"50:50", "75:25", "25:75", "90:10", "10:90", "66:34", "50:25:12.5:12.5"})
    void ofTurnsOverASecond(String shares) {
        for (PolicyName policy : List.of(PolicyName.FAIR, PolicyName.ROUND_ROBIN)) {
            keepsShares(LoopGenerator.weighted(weights(shares)), SimulationSettings.turns(policy, 30_000 * MS), 1_000 * MS, 0.98);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"FAIR", "ROUND_ROBIN", "CREDIT", "BAND", "DEADLINE"})
    void weightsChangeLive(PolicyName policy) {
        SchedulingTrace equal = LoopGenerator.weighted(1, 1);
        SchedulingTrace changed = new SchedulingTrace(equal.tenants(), List.of(), equal.loops(),
                List.of(new TermsChange(10_000 * MS, 0, TenantTerms.DEFAULT.withWeight(3))));
        UsageBuckets windows = new UsageBuckets(2, 10_000 * MS, 4);
        DeviceSimulation.run(changed, SimulationSettings.submissions(policy, 30_000 * MS), windows);
        assertEquals(0.5, windows.usedNs(0, 0) / (10_000.0 * MS), 0.03);
        assertEquals(0.75, windows.usedNs(0, 2) / (10_000.0 * MS), 0.03);
    }

    /** Under every policy, one tenant gets what the other does not want. */
    @ParameterizedTest
    @ValueSource(strings = {"FIFO", "ROUND_ROBIN", "CREDIT", "BAND", "FAIR", "PRIORITY", "ELASTIC", "DEADLINE"})
    void unusedTimeIsTheOthers(PolicyName policy) {
        SchedulingTrace trace = SchedulingTrace.ofLoops(
                List.of(new TraceTenant("light", TenantTerms.DEFAULT), new TraceTenant("heavy", TenantTerms.DEFAULT)),
                List.of(RequestLoop.endless(0, MS, 99 * MS), new RequestLoop(0, Long.MAX_VALUE, 1, 2 * MS, 0, 4, Long.MAX_VALUE)));
        SimulationResult result = DeviceSimulation.run(trace, SimulationSettings.submissions(policy, 20_000 * MS), RunObserver.NONE);
        assertTrue(result.utilisation() > 0.98, "utilisation " + result.utilisation());
        assertTrue(result.share(result.tenants().getLast()) > 0.97, "share " + result.share(result.tenants().getLast()));
    }
}
