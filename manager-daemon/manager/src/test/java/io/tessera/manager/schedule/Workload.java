package io.tessera.manager.schedule;

/**
 * Work that a simulated client repeats: launches, then time on the host. Times in nanoseconds.
 *
 * @param kernelsPerStep number of launches in a step
 * @param launchNs       host time of one launch
 * @param kernelNs       device time of one kernel
 * @param hostNs         host time at the end of a step, without launches
 * @param synchronous    whether the host waits for the device before that time begins
 * @param requests       whether steps are requests at random times, however long earlier ones take; {@code hostNs} is the mean time between two
 */
record Workload(int kernelsPerStep, long launchNs, long kernelNs, long hostNs, boolean synchronous, boolean requests) {
    /** Like {@code gpt} in h200-measurements.md: 243 launches and 10 ms of device time a step, never waits. */
    static final Workload GPU_BOUND = new Workload(243, 8_000, 41_000, 0, false);

    /** Like {@code mlp}: about 50 launches and 1.3 ms of host time a step, of which the device works 40 %. */
    static final Workload HOST_BOUND = new Workload(50, 26_000, 11_000, 30_000, false);

    /** Reads its loss every step and works on the host a tenth of the time. */
    static final Workload NEARLY_GPU_BOUND = new Workload(200, 8_000, 45_000, 1_000_000, true);

    /** Waits for the device and then for its data, half of the time each. */
    static final Workload HALF = new Workload(100, 8_000, 50_000, 5_000_000, true);

    /** Nothing to launch for a long time between two short bursts. */
    static final Workload BURSTS = new Workload(100, 8_000, 50_000, 395_000_000, true);

    /** Two launches of 5 ms a step, like captured graphs, and a loss that is read: few submissions to count. */
    static final Workload GRAPHS = new Workload(2, 20_000, 5_000_000, 100_000, true);

    /** Kernels so long that every turn overruns by several milliseconds. */
    static final Workload LONG_KERNELS = new Workload(4, 8_000, 15_000_000, 0, false);

    Workload(int kernelsPerStep, long launchNs, long kernelNs, long hostNs, boolean synchronous) {
        this(kernelsPerStep, launchNs, kernelNs, hostNs, synchronous, false);
    }

    /** Requests of {@code kernelsPerStep} kernels whose results are waited for, at random times. */
    static Workload requests(int kernelsPerStep, long kernelNs, long betweenNs) {
        return new Workload(kernelsPerStep, 8_000, kernelNs, betweenNs, true, true);
    }
}
