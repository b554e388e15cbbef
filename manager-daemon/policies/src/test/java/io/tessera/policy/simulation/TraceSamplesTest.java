package io.tessera.policy.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.policy.TenantClass;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import org.junit.jupiter.api.Test;

/** Generated traces, windows and percentiles. */
class TraceSamplesTest {
    private static final long MS = 1_000_000L;

    @Test
    void windowsGetLongerWhenThereAreTooMany() {
        UsageBuckets windows = new UsageBuckets(2, 10, 4);
        windows.ran(0, 5, 25);
        assertEquals(5, windows.usedNs(0, 0));
        assertEquals(10, windows.usedNs(0, 1));
        assertEquals(5, windows.usedNs(0, 2));
        windows.ran(1, 40, 50);
        assertEquals(20, windows.widthNs());
        assertEquals(3, windows.windows());
        assertEquals(15, windows.usedNs(0, 0));
        assertEquals(5, windows.usedNs(0, 1));
        assertEquals(10, windows.usedNs(1, 2));
    }

    @Property(tries = 200)
    void nothingIsLostInWindows(@ForAll long seed) {
        Random random = new Random(seed);
        UsageBuckets windows = new UsageBuckets(1, 1 + random.nextInt(50), 8);
        long nowNs = 0;
        long usedNs = 0;
        for (int i = 0; i < 50; i++) {
            nowNs += random.nextInt(20);
            long lengthNs = 1 + random.nextInt(40);
            windows.ran(0, nowNs, nowNs + lengthNs);
            nowNs += lengthNs;
            usedNs += lengthNs;
        }
        long sumNs = 0;
        for (int window = 0; window < windows.windows(); window++) {
            assertTrue(windows.usedNs(0, window) <= windows.widthNs());
            sumNs += windows.usedNs(0, window);
        }
        assertEquals(usedNs, sumNs, "seed " + seed);
        assertTrue(windows.windows() <= 8);
    }

    @Property(tries = 200)
    void percentilesAreNearestRank(@ForAll long[] values, @ForAll @DoubleRange(min = 0, max = 100) double percent) {
        WaitSamples samples = new WaitSamples();
        Arrays.stream(values).forEach(samples::add);
        long[] sorted = Arrays.stream(values).sorted().toArray();
        long percentileNs = samples.percentileNs(percent);
        if (values.length == 0) {
            assertEquals(0, percentileNs);
        } else {
            long below = Arrays.stream(sorted).filter(value -> value <= percentileNs).count();
            long strictlyBelow = Arrays.stream(sorted).filter(value -> value < percentileNs).count();
            assertTrue(below >= percent / 100 * values.length - 1e-9);
            assertTrue(strictlyBelow <= percent / 100 * values.length);
        }
    }

    @Test
    void tremWorkloadsHaveTheirMixAndLoad() {
        SchedulingTrace trace = TremGenerator.of(TremMix.W1, 1, 3_000, 7);
        long interactive = trace.tenants().stream().filter(tenant -> tenant.terms().tenantClass() == TenantClass.INTERACTIVE).count();
        assertEquals(0.8, interactive / 3_000.0, 0.03);
        double workNs = trace.loops().stream().mapToDouble(loop -> (double) loop.lengthNs() * loop.requests()).sum();
        double spanNs = trace.loops().stream().mapToDouble(RequestLoop::fromNs).max().orElseThrow();
        assertEquals(1, workNs / spanNs, 0.25, "Pareto means come slowly");
        assertTrue(trace.ends());
        assertEquals(trace, TremGenerator.of(TremMix.W1, 1, 3_000, 7));
        assertNotEquals(trace, TremGenerator.of(TremMix.W1, 1, 3_000, 8));
        assertThrows(IllegalArgumentException.class, () -> TremGenerator.of(TremMix.W2, 0, 30, 1));
    }

    @Test
    void weightedTenantsHaveKernelsFifteenTimesApart() {
        SchedulingTrace trace = LoopGenerator.weighted(4, 2, 1, 1);
        assertEquals(4 * MS, trace.loops().getFirst().lengthNs());
        assertEquals(4 * MS / 15, trace.loops().getLast().lengthNs());
        assertEquals(4, trace.tenants().stream().map(TraceTenant::name).distinct().count());
        assertEquals(1_000, LoopGenerator.crowd(1_000, 1).tenants().stream().map(TraceTenant::name).distinct().count());
    }
}
