package io.tessera.bench.software;

import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs {@link SoftwareGpuBenchmark} and prints, per workload: PTX instructions per second on one core, compiled and
 * interpreted; how many times faster compiled is; and the share of plain Java's speed that it reaches.
 */
public final class KernelRates {
    private static final double MICROSECONDS = 1e6;

    private KernelRates() {
    }

    /**
     * Runs.
     *
     * @param arguments JMH's options
     */
    public static void main(String[] arguments) throws RunnerException, CommandLineOptionException {
        OptionsBuilder options = new OptionsBuilder();
        options.parent(new CommandLineOptions(arguments)).include(SoftwareGpuBenchmark.class.getName());
        Collection<RunResult> results = new Runner(options.build()).run();
        Map<BenchmarkKernel, Map<String, Double>> times = new EnumMap<>(BenchmarkKernel.class);
        for (RunResult result : results) {
            String method = result.getParams().getBenchmark();
            times.computeIfAbsent(BenchmarkKernel.valueOf(result.getParams().getParam("workload")), _ -> new HashMap<>())
                    .put(method.substring(method.lastIndexOf('.') + 1), result.getPrimaryResult().getScore());
        }
        System.out.printf("%n%-12s %18s %18s %14s %14s%n", "workload", "compiled [instr/s]", "interpreted", "x interpreter",
                "of plain Java");
        times.forEach((workload, time) -> System.out.println(String.format(Locale.ROOT,
                "%-12s %18.3g %18.3g %14.1f %14.3f", workload.kernel(), rate(workload, time.get("compiled")),
                rate(workload, time.get("interpreted")), time.get("interpreted") / time.get("compiled"),
                time.get("plainJava") / time.get("compiled"))));
    }

    private static double rate(BenchmarkKernel workload, double microseconds) {
        return workload.instructions() / microseconds * MICROSECONDS;
    }
}
