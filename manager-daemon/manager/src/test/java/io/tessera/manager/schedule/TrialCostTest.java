package io.tessera.manager.schedule;

import static io.tessera.manager.schedule.SimulatedGpu.MS;
import static io.tessera.manager.schedule.SimulatedGpu.SECOND;
import static io.tessera.manager.schedule.SimulatedGpu.WINDOW_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.ScheduleSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Cost of trials of {@code auto} in the first 20 s of a pair of programs, and the waits that they cause. */
class TrialCostTest {
    private static final long UNTIL_NS = 20 * SECOND;

    /** 100 requests of 1 ms a second. */
    private static final Workload LIGHT = new Workload(20, 8_000, 50_000, 9 * MS, true);

    /** Matrix products of 13 ms, with as many queued as the driver allows. */
    private static final Workload PRODUCTS = new Workload(4, 8_000, 13 * MS, 0, false);

    /** A generator of text: hundreds of short kernels and a word that is read. */
    private static final Workload GENERATOR = new Workload(300, 8_000, 3_000, 500_000, true);

    /** Result for a pair. */
    enum Found {
        /** Turns do so much more that auto must take them. */
        TURNS,
        /** Turns are tried, and do less. */
        FREE_AFTER_TRIAL,
        /** One client has so little work that turns cannot gain, and are not tried. */
        FREE_AT_ONCE
    }

    enum Pair {
        LIGHT_AND_TRAINING(Found.FREE_AT_ONCE, LIGHT, Workload.GPU_BOUND), LIGHT_AND_PRODUCTS(Found.FREE_AT_ONCE, LIGHT, PRODUCTS), GENERATORS(
                Found.FREE_AFTER_TRIAL, GENERATOR, GENERATOR), GENERATOR_AND_TRAINING(Found.FREE_AFTER_TRIAL, GENERATOR,
                        Workload.GPU_BOUND), THREE_GENERATORS(Found.FREE_AFTER_TRIAL, GENERATOR, GENERATOR, GENERATOR), TRAININGS(Found.TURNS,
                                Workload.GPU_BOUND,
                                Workload.GPU_BOUND), THREE_TRAININGS(Found.TURNS, Workload.GPU_BOUND, Workload.GPU_BOUND, Workload.GPU_BOUND);

        private final Found found;
        private final Workload[] workloads;

        Pair(Found found, Workload... workloads) {
            this.found = found;
            this.workloads = workloads;
        }
    }

    private static SimulatedGpu run(SchedulerMode mode, Workload[] workloads) {
        SimulatedGpu gpu = new SimulatedGpu(ScheduleSettings.defaults(), mode);
        for (Workload workload : workloads) {
            gpu.add(workload, workload, Long.MAX_VALUE, 0.3);
        }
        gpu.runUntil(UNTIL_NS);
        return gpu;
    }

    private static double workNs(SimulatedGpu gpu, long fromNs, long untilNs) {
        return gpu.clients.stream().mapToDouble(client -> gpu.workNs(client, fromNs, untilNs)).sum();
    }

    /** Returns the longest time in which the first client completed no work, after the first second. */
    private static long silenceNs(SimulatedGpu gpu) {
        long longestNs = 0;
        long silentNs = 0;
        for (long fromNs = SECOND; fromNs < UNTIL_NS; fromNs += WINDOW_NS) {
            silentNs = gpu.workNs(gpu.clients.getFirst(), fromNs, fromNs + WINDOW_NS) == 0 ? silentNs + WINDOW_NS : 0;
            longestNs = Math.max(longestNs, silentNs);
        }
        return longestNs;
    }

    /** Returns the smallest share of work in any ten seconds, compared with another run. */
    private static double worstShare(SimulatedGpu gpu, SimulatedGpu other) {
        double worst = 1;
        for (long fromNs = 0; fromNs + 10 * SECOND <= UNTIL_NS; fromNs += SECOND / 2) {
            worst = Math.min(worst, workNs(gpu, fromNs, fromNs + 10 * SECOND) / workNs(other, fromNs, fromNs + 10 * SECOND));
        }
        return worst;
    }

    @ParameterizedTest
    @EnumSource
    void trialsCostLittleAndKeepNobodyWaiting(Pair pair) {
        SimulatedGpu off = run(SchedulerMode.OFF, pair.workloads);
        SimulatedGpu on = run(SchedulerMode.ON, pair.workloads);
        SimulatedGpu auto = run(SchedulerMode.AUTO, pair.workloads);
        double share = workNs(auto, 0, UNTIL_NS) / Math.max(workNs(off, 0, UNTIL_NS), workNs(on, 0, UNTIL_NS));
        assertTrue(share >= 0.98, "auto does " + share + " of the better mode");
        boolean tried = triesTurns(auto);
        assertEquals(pair.found != Found.FREE_AT_ONCE, tried, auto.modeChanges.toString());
        assertEquals(pair.found == Found.TURNS, auto.scheduler.snapshot(UNTIL_NS).exclusive(), auto.modeChanges.toString());
        if (pair.found != Found.TURNS) {
            assertWaitsLittle(auto, off, tried ? pair.workloads.length : 0);
            double worst = worstShare(auto, off);
            assertTrue(worst >= 0.98, "in ten seconds auto does " + worst + " of free running");
        }
    }

    /** It is busy for two thirds of the time beside a training, so turns are tried. */
    @Test
    void aClientThatPausesKeepsTheTurnsOfATrialShort() {
        Workload[] workloads = {Workload.HALF, Workload.GPU_BOUND};
        SimulatedGpu auto = run(SchedulerMode.AUTO, workloads);
        assertTrue(triesTurns(auto), auto.modeChanges.toString());
        assertFalse(auto.scheduler.snapshot(UNTIL_NS).exclusive(), auto.modeChanges.toString());
        assertWaitsLittle(auto, run(SchedulerMode.OFF, workloads), workloads.length);
    }

    private static boolean triesTurns(SimulatedGpu gpu) {
        return gpu.modeChanges.stream().anyMatch(change -> change.contains("on trial"));
    }

    /** For each client a turn of 5 ms and 5 ms that are queued in it; windows are of 10 ms. */
    private static void assertWaitsLittle(SimulatedGpu auto, SimulatedGpu off, int windows) {
        assertTrue(silenceNs(auto) <= silenceNs(off) + windows * WINDOW_NS,
                silenceNs(auto) / MS + " ms, without trials " + silenceNs(off) / MS + "; " + auto.modeChanges);
    }
}
