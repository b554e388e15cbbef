package io.tessera.policy.simulation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.policy.PolicyName;
import io.tessera.policy.PolicySettings;
import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import org.junit.jupiter.api.Test;

class DeviceSimulationTest {
    private static final long MS = 1_000_000L;
    private static final TraceTenant A = new TraceTenant("a", TenantTerms.DEFAULT);
    private static final TraceTenant B = new TraceTenant("b", TenantTerms.DEFAULT.withClass(TenantClass.INTERACTIVE));

    private static SchedulingTrace submissions(TraceSubmission... submissions) {
        return new SchedulingTrace(List.of(A, B), List.of(submissions), List.of(), List.of());
    }

    private static SimulationResult run(SchedulingTrace trace, SimulationSettings settings) {
        return DeviceSimulation.run(trace, settings, RunObserver.NONE);
    }

    @Test
    void requestsRunOneAfterAnother() {
        List<String> runs = new ArrayList<>();
        SimulationResult result = DeviceSimulation.run(
                submissions(new TraceSubmission(2 * MS, 1, 3 * MS), new TraceSubmission(0, 0, 5 * MS), new TraceSubmission(20 * MS, 0, MS)),
                SimulationSettings.submissions(PolicyName.FIFO, Long.MAX_VALUE),
                (tenant, fromNs, untilNs) -> runs.add(tenant + ": " + fromNs / MS + " to " + untilNs / MS));
        assertEquals(List.of("0: 0 to 5", "1: 5 to 8", "0: 20 to 21"), runs);
        assertEquals(21 * MS, result.elapsedNs());
        assertEquals(9 * MS, result.busyNs());
        assertEquals(3, result.turns());
        TenantResult b = result.tenants().get(1);
        assertEquals(3 * MS, b.waits().percentileNs(99));
        assertEquals(6 * MS, b.responses().longestNs());
        assertEquals(1, result.inTime(TenantClass.INTERACTIVE));
        assertEquals(1.0 / 3, result.share(b), 1e-9);
    }

    @Test
    void handoversCostTimeAndTheEndCutsOff() {
        SimulationSettings settings = new SimulationSettings(PolicyName.FIFO, PolicySettings.SUBMISSIONS, 10 * MS, MS, 0, -1);
        SimulationResult result = run(
                submissions(new TraceSubmission(0, 0, 2 * MS), new TraceSubmission(0, 1, 2 * MS), new TraceSubmission(MS, 0, 2 * MS),
                        new TraceSubmission(5 * MS, 1, 9 * MS)),
                settings);
        // 0-2 a, which continues, because its turn is not over: 2-4; hand-over; 5-7 b; 7-16 b is not done by the end.
        assertEquals(6 * MS, result.busyNs());
        assertEquals(MS, result.handoverNs());
        assertEquals(10 * MS, result.elapsedNs());
        assertEquals(0.6, result.utilisation(), 1e-9);
        assertEquals(1, result.tenants().get(1).unfinished());
    }

    @Test
    void aTurnGoesOnThroughShortPauses() {
        SchedulingTrace trace = SchedulingTrace.ofLoops(List.of(A, B),
                List.of(new RequestLoop(0, Long.MAX_VALUE, 0, MS, MS / 10, 1, 20), new RequestLoop(0, Long.MAX_VALUE, 1, MS, 0, 1, 20)));
        SimulationSettings none = SimulationSettings.submissions(PolicyName.ROUND_ROBIN, Long.MAX_VALUE);
        SimulationSettings release = new SimulationSettings(PolicyName.ROUND_ROBIN, PolicySettings.SUBMISSIONS, Long.MAX_VALUE, 0, MS / 5, -1);
        long without = run(trace, none).turns();
        long with = run(trace, release).turns();
        assertTrue(without > 20 && with <= 8, without + " and " + with + " turns");
    }

    @Test
    void aBatchRequestIsStoppedForAnInteractiveOneAndRunsAgain() {
        SimulationSettings settings = SimulationSettings.submissions(PolicyName.PRIORITY, Long.MAX_VALUE).withRevokeNs(2 * MS);
        SimulationResult result = run(submissions(new TraceSubmission(0, 0, 100 * MS), new TraceSubmission(30 * MS, 1, 5 * MS)), settings);
        TenantResult batch = result.tenants().get(0);
        assertEquals(1, batch.revocations());
        assertEquals(30 * MS, batch.lostNs());
        assertEquals(2 * MS, result.tenants().get(1).waits().longestNs());
        assertEquals(137 * MS, result.elapsedNs(), "30 in vain, 2 to stop, 5, and 100 again");
        SimulationResult nearlyDone = run(submissions(new TraceSubmission(0, 0, 100 * MS), new TraceSubmission(99 * MS, 1, 5 * MS)), settings);
        assertEquals(0, nearlyDone.tenants().get(0).revocations(), "it is done sooner than stopped");
    }

    @Test
    void whatHasNoEndNeedsOne() {
        assertThrows(IllegalArgumentException.class,
                () -> run(LoopGenerator.pair(), SimulationSettings.submissions(PolicyName.FIFO, Long.MAX_VALUE)));
    }

    /** Every request is done once under every policy, the device never works on two things, and a repeated run has the same result. */
    @Property(tries = 100, shrinking = ShrinkingMode.OFF)
    void everyRequestIsDoneOnce(@ForAll PolicyName policy, @ForAll long seed) {
        Random random = new Random(seed);
        List<TraceTenant> tenants = new ArrayList<>();
        List<TraceSubmission> submissions = new ArrayList<>();
        List<RequestLoop> loops = new ArrayList<>();
        long askedNs = 0;
        for (int i = 0; i < 1 + random.nextInt(6); i++) {
            TenantTerms terms = new TenantTerms(1 + random.nextInt(9), random.nextInt(3), random.nextBoolean() ? TenantClass.BATCH
                    : TenantClass.INTERACTIVE, random.nextBoolean() ? 1 : 0.3, random.nextBoolean() ? 1 : 0.2, 0, false);
            tenants.add(new TraceTenant("t" + i, terms));
            RequestLoop loop = new RequestLoop(random.nextLong(100 * MS), Long.MAX_VALUE, i, 1 + random.nextLong(8 * MS), random.nextLong(2 * MS), 1
                    + random.nextInt(3), 1 + random.nextInt(40));
            loops.add(loop);
            askedNs += loop.requests() * loop.lengthNs();
            for (int request = 0; request < random.nextInt(20); request++) {
                submissions.add(new TraceSubmission(random.nextLong(1_000 * MS), i, 1 + random.nextLong(20 * MS)));
                askedNs += submissions.getLast().lengthNs();
            }
        }
        SchedulingTrace trace = new SchedulingTrace(tenants, submissions, loops, List.of());
        SimulationSettings settings = new SimulationSettings(policy, PolicySettings.SUBMISSIONS.withQuantumNs(random.nextInt(3) * 5 * MS),
                Long.MAX_VALUE, random.nextInt(2) * MS, random.nextInt(2) * MS, random.nextInt(3) * MS - 1);
        long[] lastNs = {0};
        SimulationResult result = DeviceSimulation.run(trace, settings, (_, fromNs, untilNs) -> {
            assertTrue(fromNs >= lastNs[0] && untilNs > fromNs, "overlap, seed " + seed);
            lastNs[0] = untilNs;
        });
        assertEquals(askedNs, result.busyNs(), policy + ", seed " + seed);
        assertEquals(0, result.tenants().stream().mapToLong(TenantResult::unfinished).sum(), policy + ", seed " + seed);
        assertEquals(result.elapsedNs(), run(trace, settings).elapsedNs(), policy + ", seed " + seed);
    }

    /** Over ten seconds a hard cap of 30 % holds within a request and the time that may be saved up. */
    @Property(tries = 16, shrinking = ShrinkingMode.OFF)
    void hardCapsHold(@ForAll PolicyName policy, @ForAll boolean alone) {
        List<TraceTenant> tenants = List.of(new TraceTenant("capped", TenantTerms.DEFAULT.withHardCap(0.3)), A);
        List<RequestLoop> loops = List.of(RequestLoop.endless(0, 2 * MS, 0), RequestLoop.endless(1, 2 * MS, 0));
        SimulationResult result = run(SchedulingTrace.ofLoops(tenants, alone ? loops.subList(0, 1) : loops),
                SimulationSettings.submissions(policy, 10_000 * MS));
        long usedNs = result.tenants().getFirst().usedNs();
        assertTrue(usedNs <= 3_160 * MS, policy + ": " + usedNs);
        assertTrue(!alone || usedNs >= 3_000 * MS, policy + ": " + usedNs);
        assertTrue(alone || result.utilisation() > 0.99, policy + ": " + result.utilisation());
    }
}
