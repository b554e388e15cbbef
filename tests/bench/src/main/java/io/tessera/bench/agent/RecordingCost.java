package io.tessera.bench.agent;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs {@link LaunchLoopBenchmark} and prints, per mode of the recorder: nanoseconds that a record adds to a launch, their
 * share of a launch on an H200, and the loop of launches with records against the same loop without. Medians over the
 * iterations of all forks.
 */
public final class RecordingCost {
    /** Time of a small kernel, natively, in a full queue: 2,932 to 3,022 ns from C (H200). */
    private static final double LAUNCH_NS = 2950;
    private static final String ALONE = "0";

    /** Costs in one mode. */
    private static final class Cost {
        private final List<Double> addedNs = new ArrayList<>();
        private final List<Double> ratios = new ArrayList<>();
        private final List<Double> launchNs = new ArrayList<>();
        private double allocationNs = Double.NaN;
    }

    private RecordingCost() {
    }

    /**
     * Runs. * @param arguments JMH's options
     */
    public static void main(String[] arguments) throws RunnerException, CommandLineOptionException {
        OptionsBuilder options = new OptionsBuilder();
        options.parent(new CommandLineOptions(arguments)).include(LaunchLoopBenchmark.class.getName());
        Collection<RunResult> results = new Runner(options.build()).run();
        Map<String, Cost> costs = new TreeMap<>();
        for (RunResult result : results) {
            Cost cost = costs.computeIfAbsent(result.getParams().getParam("mode"), _ -> new Cost());
            boolean alone = ALONE.equals(result.getParams().getParam("tokens"));
            if (result.getParams().getBenchmark().endsWith(".launches")) {
                result.getBenchmarkResults().forEach(fork -> fork.getIterationResults()
                        .forEach(iteration -> add(cost, iteration, alone)));
            } else if (alone) {
                // The fastest iteration, because other load of the machine only adds time.
                cost.allocationNs = result.getPrimaryResult().getStatistics().getMin();
            }
        }
        System.out.printf("%n%-12s %16s %16s %32s %22s%n", "recording", "a launch, ns", "of 2.95 us, %",
                "loop with records / without", "allocation+free, ns");
        costs.forEach((mode, cost) -> System.out.println(String.format(Locale.ROOT,
                "%-12s %16.2f %16.3f %17.4f (%6.0f ns each) %22.1f", mode, median(cost.addedNs),
                100 * median(cost.addedNs) / LAUNCH_NS, median(cost.ratios), median(cost.launchNs),
                cost.allocationNs)));
    }

    private static void add(Cost cost, IterationResult iteration, boolean alone) {
        double plain = counter(iteration, "plainNs");
        double recorded = counter(iteration, "recordedNs");
        double launches = counter(iteration, "launches");
        if (alone) {
            cost.addedNs.add((recorded - plain) / launches);
        } else {
            cost.ratios.add(recorded / plain);
            cost.launchNs.add(plain / launches);
        }
    }

    private static double counter(IterationResult iteration, String name) {
        return iteration.getSecondaryResults().get(name).getScore();
    }

    private static double median(List<Double> values) {
        List<Double> ordered = new ArrayList<>(values);
        Collections.sort(ordered);
        return ordered.isEmpty() ? Double.NaN : ordered.get(ordered.size() / 2);
    }
}
