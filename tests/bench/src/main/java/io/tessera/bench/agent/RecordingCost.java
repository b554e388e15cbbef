package io.tessera.bench.agent;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs {@link LaunchLoopBenchmark} and prints, per mode of the recorder: nanoseconds that a record adds to a launch, their
 * share of a launch on an H200, and the loop of launches against the same loop without records. Figures are those of the
 * fastest iteration of all: other load of the machine only adds.
 */
public final class RecordingCost {
    /** Of a small kernel, natively, in a full queue: 2,932 to 3,022 ns from C; tests/gpu/RESULTS.md. */
    private static final double LAUNCH_NS = 2950;
    private static final String ALONE = "0";

    private RecordingCost() {
    }

    /**
     * Runs.
     *
     * @param arguments JMH's options
     */
    public static void main(String[] arguments) throws RunnerException, CommandLineOptionException {
        OptionsBuilder options = new OptionsBuilder();
        options.parent(new CommandLineOptions(arguments)).include(LaunchLoopBenchmark.class.getName());
        Collection<RunResult> results = new Runner(options.build()).run();
        Map<String, Double> plain = new TreeMap<>();
        Map<String, Map<String, Double>> recorded = new TreeMap<>();
        Map<String, Double> allocations = new TreeMap<>();
        for (RunResult result : results) {
            String tokens = result.getParams().getParam("tokens");
            String mode = result.getParams().getParam("mode");
            double ns = result.getPrimaryResult().getStatistics().getMin();
            String benchmark = result.getParams().getBenchmark();
            if (benchmark.endsWith(".plain")) {
                plain.put(tokens, ns);
            } else if (benchmark.endsWith(".recorded")) {
                recorded.computeIfAbsent(mode, _ -> new TreeMap<>()).put(tokens, ns);
            } else if (tokens.equals(ALONE)) {
                allocations.put(mode, ns);
            }
        }
        System.out.printf("%n%-12s %16s %20s %30s %22s%n", "recording", "a launch, ns", "of 2.95 us, %",
                "loop against plain loop", "allocation+free, ns");
        recorded.forEach((mode, ns) -> {
            double added = ns.get(ALONE) - plain.get(ALONE);
            StringBuilder loops = new StringBuilder();
            plain.forEach((tokens, bare) -> {
                if (!tokens.equals(ALONE)) {
                    loops.append(String.format(Locale.ROOT, "%.4f (of %.0f ns)", ns.get(tokens) / bare, bare));
                }
            });
            System.out.println(String.format(Locale.ROOT, "%-12s %16.2f %20.3f %30s %22.1f", mode, added,
                    100 * added / LAUNCH_NS, loops, allocations.getOrDefault(mode, Double.NaN)));
        });
    }
}
