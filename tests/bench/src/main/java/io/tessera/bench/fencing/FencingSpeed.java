package io.tessera.bench.fencing;

import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * Runs {@link FencingBenchmark} over corpora and prints, for each: MB of PTX per second of processor time read alone, fenced, verified (of the fenced
 * text), and fenced for the first time in a process; and how many times longer fencing takes than reading, which is more meaningful on a
 * busy machine.
 */
public final class FencingSpeed {
    private FencingSpeed() {
    }

    /**
     * Runs.
     *
     * @param arguments the corpora (files or folders), separated by commas, then JMH's options
     */
    public static void main(String[] arguments) throws RunnerException, CommandLineOptionException {
        String[] corpora = arguments[0].split(",");
        String[] options = Stream.of(arguments).skip(1).toArray(String[]::new);
        Collection<RunResult> results = new Runner(new OptionsBuilder().parent(new CommandLineOptions(options))
                .include(FencingBenchmark.class.getName()).param("corpus", corpora).build()).run();
        Map<String, Map<String, Double>> rates = new TreeMap<>();
        for (RunResult result : results) {
            String method = result.getParams().getBenchmark();
            rates.computeIfAbsent(result.getParams().getParam("corpus"), _ -> new HashMap<>())
                    .put(method.substring(method.lastIndexOf('.') + 1), rate(result));
        }
        System.out.printf("%n%-40s %12s %12s %14s %12s %16s%n", "corpus", "read, MB/s", "fenced, MB/s", "verified, MB/s", "cold, MB/s",
                "fenced / read");
        rates.forEach((corpus, rate) -> System.out.println(String.format(Locale.ROOT, "%-40s %12.1f %12.2f %14.2f %12.2f %16.1f",
                Path.of(corpus).getFileName(), known(rate, "parse"), known(rate, "fence"), known(rate, "verify"), known(rate, "cold"),
                known(rate, "parse") / known(rate, "fence"))));
    }

    /** Returns the rate of a benchmark; not a number if it was not run. */
    private static double known(Map<String, Double> rates, String benchmark) {
        return rates.getOrDefault(benchmark, Double.NaN);
    }

    /** Returns millions of bytes per second of processor time. */
    private static double rate(RunResult result) {
        return result.getSecondaryResults().get("bytes").getScore() * 1e3 / result.getSecondaryResults().get("cpuNs").getScore();
    }
}
