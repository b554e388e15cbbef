package io.tessera.policy.simulation;

import io.tessera.policy.TenantClass;
import io.tessera.policy.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The workloads of TReM's evaluation, for one device. A job is a tenant. It runs one kind of task again and again, for a time that is Pareto
 * distributed with a mean of 5 s (interactive) or 600 s (batch); jobs arrive with exponential gaps. At a load of 1 their work fills the device.
 *
 * <p>TReM had four devices and up to eight tasks of a job in progress. Here a job has one, because two of the longest interactive tasks would miss
 * their target of 200 ms even alone on a device. TReM does not give the shape of its Pareto distributions; it is 2 here.
 */
public final class TremGenerator {
    private static final double SHAPE = 2;
    private static final double SECOND_NS = 1e9;
    private static final double INTERACTIVE_MEAN_NS = 5 * SECOND_NS;
    private static final double BATCH_MEAN_NS = 600 * SECOND_NS;

    private record Task(String name, long lengthMs) {
    }

    private static final List<Task> INTERACTIVE = List.of(new Task("euclid", 10), new Task("particle", 23), new Task("nw", 38),
            new Task("bfs", 50), new Task("blackscholes", 60), new Task("pathfinder", 68), new Task("hotspot3d", 81), new Task("montecarlo", 150),
            new Task("darkgray", 170));
    private static final List<Task> BATCH = List.of(new Task("lavamd", 46_000), new Task("hotspot", 130_696), new Task("gaussian", 311_000));

    private final Random random;
    private final List<TraceTenant> tenants = new ArrayList<>();
    private final List<RequestLoop> loops = new ArrayList<>();

    private TremGenerator(long seed) {
        random = new Random(seed);
    }

    /**
     * Returns a trace; the same for the same arguments.
     *
     * @param load offered work over the device's capacity; TReM: 0.25 to 2
     * @param jobs number of jobs; TReM: 30
     */
    public static SchedulingTrace of(TremMix mix, double load, int jobs, long seed) {
        if (!(load > 0) || jobs < 1) {
            throw new IllegalArgumentException("load " + load + " of " + jobs + " jobs: both must be positive");
        }
        TremGenerator generator = new TremGenerator(seed);
        double interactivePart = mix.interactivePercent() / 100.0;
        double meanGapNs = (interactivePart * INTERACTIVE_MEAN_NS + (1 - interactivePart) * BATCH_MEAN_NS) / load;
        double atNs = 0;
        for (int i = 0; i < jobs; i++) {
            generator.job(i, (long) atNs, generator.random.nextInt(100) < mix.interactivePercent());
            atNs += -Math.log(1 - generator.random.nextDouble()) * meanGapNs;
        }
        return SchedulingTrace.ofLoops(generator.tenants, generator.loops);
    }

    private void job(int number, long fromNs, boolean interactive) {
        List<Task> tasks = interactive ? INTERACTIVE : BATCH;
        Task task = tasks.get(random.nextInt(tasks.size()));
        double meanNs = interactive ? INTERACTIVE_MEAN_NS : BATCH_MEAN_NS;
        double durationNs = meanNs * (SHAPE - 1) / SHAPE / Math.pow(1 - random.nextDouble(), 1 / SHAPE);
        long lengthNs = task.lengthMs() * 1_000_000L;
        TenantClass tenantClass = interactive ? TenantClass.INTERACTIVE : TenantClass.BATCH;
        tenants.add(new TraceTenant("job" + (number + 1) + "-" + task.name(), TenantTerms.DEFAULT.withClass(tenantClass)));
        loops.add(new RequestLoop(fromNs, Long.MAX_VALUE, number, lengthNs, 0, 1, Math.max(1, Math.round(durationNs / lengthNs))));
    }
}
