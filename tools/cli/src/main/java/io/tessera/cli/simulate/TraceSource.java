package io.tessera.cli.simulate;

import io.tessera.policy.simulation.LoopGenerator;
import io.tessera.policy.simulation.SchedulingTrace;
import io.tessera.policy.simulation.TremGenerator;
import io.tessera.policy.simulation.TremMix;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Source of the trace: a file or a generator. */
final class TraceSource {
    @Parameters(arity = "0..1", paramLabel = "TRACE", description = "A file with a trace (its format is below).")
    private Path file;

    @Option(names = "--generate", paramLabel = "KIND", description = {"In place of a file:",
            "w1, w2: TReM's workloads, 80 and 50 of 100 jobs interactive, with tasks of 10 to 170 ms beside tasks of 46 to 311 s;",
            "pair: two tenants that wait for each request, of 4 ms and of 0.27 ms;",
            "crowd: --count tenants with a hundred requests each;",
            "75:25 and the like: tenants of these weights that always have work."})
    private String kind;

    @Option(names = "--load", paramLabel = "X", description = "w1, w2: offered work over what the device can do. Default: ${DEFAULT-VALUE}")
    private double load = 1;

    @Option(names = "--count", paramLabel = "N", description = "w1, w2: how many jobs (default 30). crowd: how many tenants (default 1000)")
    private Integer count;

    @Option(names = "--seed", paramLabel = "N", description = "w1, w2, crowd: the same seed makes the same trace. Default: ${DEFAULT-VALUE}")
    private long seed = 1;

    /**
     * The trace.
     *
     * @throws IllegalArgumentException with a sentence for the user, if the options do not fit
     */
    SchedulingTrace open() throws IOException {
        if ((file == null) == (kind == null)) {
            throw new IllegalArgumentException("either a file with a trace or --generate is needed");
        }
        if (file != null) {
            try (BufferedReader lines = Files.newBufferedReader(file)) {
                return TraceParser.read(file.toString(), lines);
            } catch (CharacterCodingException notText) {
                throw new MalformedTraceException(file + ": is no text in UTF-8");
            }
        }
        if (count != null && (count < 1 || count > 1_000_000)) {
            throw new IllegalArgumentException("--count " + count + ": from 1 to 1000000");
        }
        return switch (kind) {
            case "w1" -> TremGenerator.of(TremMix.W1, load, count == null ? 30 : count, seed);
            case "w2" -> TremGenerator.of(TremMix.W2, load, count == null ? 30 : count, seed);
            case "pair" -> LoopGenerator.pair();
            case "crowd" -> LoopGenerator.crowd(count == null ? 1_000 : count, seed);
            default -> weighted();
        };
    }

    private SchedulingTrace weighted() {
        if (!kind.matches("\\d{1,4}(\\.\\d)?(:\\d{1,4}(\\.\\d)?)+")) {
            throw new IllegalArgumentException("--generate " + kind + ": w1, w2, pair, crowd, or weights like 75:25 or 50:25:12.5:12.5");
        }
        int[] weights = Arrays.stream(kind.split(":")).mapToInt(weight -> (int) Math.round(10 * Double.parseDouble(weight))).toArray();
        if (Arrays.stream(weights).anyMatch(weight -> weight == 0)) {
            throw new IllegalArgumentException("--generate " + kind + ": a weight is above 0");
        }
        return LoopGenerator.weighted(weights);
    }
}
