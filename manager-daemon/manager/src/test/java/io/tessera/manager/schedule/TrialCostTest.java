package io.tessera.manager.schedule;

import static io.tessera.manager.schedule.SimulatedGpu.MS;
import static io.tessera.manager.schedule.SimulatedGpu.SECOND;
import static io.tessera.manager.schedule.SimulatedGpu.WINDOW_NS;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.ScheduleSettings;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What trials of {@code auto} cost in the first 20 s of a pair of programs, and for how long somebody waits for them. */
class TrialCostTest {
    private static final long UNTIL_NS = 20 * SECOND;

    /** 100 requests of 1 ms a second. */
    private static final Workload LIGHT = new Workload(20, 8_000, 50_000, 9 * MS, true);

    /** Matrix products of 13 ms, queued as deep as the driver lets them. */
    private static final Workload PRODUCTS = new Workload(4, 8_000, 13 * MS, 0, false);

    /** A generator of text: hundreds of short kernels and a word that is read. */
    private static final Workload GENERATOR = new Workload(300, 8_000, 3_000, 500_000, true);

    /** Pairs, and whether turns do more for them by so much that auto must take them. */
    enum Pair {
        LIGHT_AND_TRAINING(false, LIGHT, Workload.GPU_BOUND), LIGHT_AND_PRODUCTS(false, LIGHT, PRODUCTS), GENERATORS(false, GENERATOR,
                GENERATOR), GENERATOR_AND_TRAINING(false, GENERATOR, Workload.GPU_BOUND), THREE_GENERATORS(false, GENERATOR, GENERATOR,
                        GENERATOR), TRAININGS(true, Workload.GPU_BOUND,
                                Workload.GPU_BOUND), THREE_TRAININGS(true, Workload.GPU_BOUND, Workload.GPU_BOUND, Workload.GPU_BOUND);

        private final boolean turns;
        private final Workload[] workloads;

        Pair(boolean turns, Workload... workloads) {
            this.turns = turns;
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

    private static double workNs(SimulatedGpu gpu) {
        return gpu.clients.stream().mapToDouble(client -> gpu.workNs(client, 0, UNTIL_NS)).sum();
    }

    /** The longest time in which the first client got nothing done, after the first second. */
    private static long silenceNs(SimulatedGpu gpu) {
        long longestNs = 0;
        long silentNs = 0;
        for (long fromNs = SECOND; fromNs < UNTIL_NS; fromNs += WINDOW_NS) {
            silentNs = gpu.workNs(gpu.clients.getFirst(), fromNs, fromNs + WINDOW_NS) == 0 ? silentNs + WINDOW_NS : 0;
            longestNs = Math.max(longestNs, silentNs);
        }
        return longestNs;
    }

    @ParameterizedTest
    @EnumSource
    void trialsCostLittleAndKeepNobodyWaiting(Pair pair) {
        SimulatedGpu off = run(SchedulerMode.OFF, pair.workloads);
        SimulatedGpu on = run(SchedulerMode.ON, pair.workloads);
        SimulatedGpu auto = run(SchedulerMode.AUTO, pair.workloads);
        double share = workNs(auto) / Math.max(workNs(off), workNs(on));
        assertTrue(share >= 0.98, "auto does " + share + " of the better mode");
        assertTrue(auto.modeChanges.stream().anyMatch(change -> change.contains("on trial")), "turns are tried: " + auto.modeChanges);
        assertTrue(auto.scheduler.snapshot(UNTIL_NS).exclusive() == pair.turns, auto.modeChanges.toString());
        if (!pair.turns) {
            // A turn of 100 ms of each other client, what is queued, and one kernel; windows are of 10 ms.
            long othersNs = 100 * MS * (pair.workloads.length - 1);
            assertTrue(silenceNs(auto) <= silenceNs(off) + othersNs + 30 * MS, silenceNs(auto) / MS + " ms, without trials " + silenceNs(off) / MS);
        }
    }
}
