package io.tessera.fuzz;

import io.tessera.fuzz.run.GpuFeed;
import java.io.BufferedOutputStream;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes kernels for a real GPU to standard output. */
@Command(name = "gpu", mixinStandardHelpOptions = true, description = "Writes fenced kernels with inputs and expected outputs to standard output, for programs/fuzz.")
final class GpuCommand implements Callable<Integer> {
    @Option(names = "--seed", paramLabel = "N", description = "of the first kernel (default: any, and said)")
    private Long seed;
    @Option(names = "--kernels", paramLabel = "N", description = "how many (${DEFAULT-VALUE})")
    private long kernels = 5000;
    @Option(names = "--threads", paramLabel = "N", description = "how many make them (${DEFAULT-VALUE})")
    private int threads = 4;

    @Override
    public Integer call() throws InterruptedException {
        long first = seed == null ? new Random().nextLong() >>> 16 : seed;
        System.err.println("seed " + first);
        new GpuFeed(new BufferedOutputStream(System.out, 1 << 20), first, kernels).run(threads);
        return 0;
    }
}
