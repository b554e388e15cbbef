package io.tessera.manager.schedule;

import static io.tessera.manager.schedule.SimulatedGpu.MS;
import static io.tessera.manager.schedule.SimulatedGpu.SECOND;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.manager.schedule.turn.ScheduleSettings;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Latencies of requests at random times under {@code auto} in the first minute, trials included, compared with the same requests in free running. */
class RequestLatencyTest {
    private static final long UNTIL_NS = 60 * SECOND;

    /** Matrix products of 13 ms, three queued at a time. */
    private static final Workload PRODUCTS = new Workload(3, 8_000, 13 * MS, 0, true);

    enum Mix {
        /** As measured on an H200 with resnet50: 100 requests of 0.8 ms a second. */
        SMALL_MODEL(Workload.requests(20, 40_000, 10 * MS), PRODUCTS), SMALL_MODEL_BESIDE_TRAINING(Workload.requests(20, 40_000, 10 * MS),
                Workload.GPU_BOUND), RARE_REQUESTS(Workload.requests(100, 50_000, 100 * MS),
                        PRODUCTS), TWO_SMALL_MODELS(Workload.requests(20, 40_000, 20 * MS), Workload.requests(20, 40_000, 20 * MS), PRODUCTS);

        private final Workload[] workloads;

        Mix(Workload... workloads) {
            this.workloads = workloads;
        }
    }

    private static SimulatedGpu run(SchedulerMode mode, Workload[] workloads) {
        SimulatedGpu gpu = new SimulatedGpu(ScheduleSettings.defaults(), mode);
        gpu.interruptsKernels = true;
        for (Workload workload : workloads) {
            gpu.add(workload);
        }
        gpu.runUntil(UNTIL_NS);
        return gpu;
    }

    private static List<Long> sorted(SimulatedGpu gpu) {
        return gpu.clients.getFirst().latenciesNs.stream().sorted().toList();
    }

    private static double ms(List<Long> sortedNs, double share) {
        return sortedNs.get((int) (share * (sortedNs.size() - 1))) / (double) MS;
    }

    @ParameterizedTest
    @EnumSource
    void requestsHardlyWaitForTrials(Mix mix) {
        SimulatedGpu off = run(SchedulerMode.OFF, mix.workloads);
        SimulatedGpu auto = run(SchedulerMode.AUTO, mix.workloads);
        List<Long> offNs = sorted(off);
        List<Long> autoNs = sorted(auto);
        String found = String.format("%s: p50, p99, longest %.1f, %.1f, %.1f ms; running freely %.1f, %.1f, %.1f ms; busy %.2f; %s", mix,
                ms(autoNs, 0.5), ms(autoNs, 0.99), ms(autoNs, 1), ms(offNs, 0.5), ms(offNs, 0.99), ms(offNs, 1),
                auto.clients.getFirst().busySamples / (double) auto.clients.getFirst().samples, auto.modeChanges);
        assertEquals(offNs.size(), autoNs.size(), 5, found);
        assertTrue(ms(autoNs, 0.99) <= 1.1 * ms(offNs, 0.99), found);
        assertTrue(ms(autoNs, 1) <= ms(offNs, 1) + 10, found);
    }
}
