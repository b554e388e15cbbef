package io.tessera.fuzz;

import com.google.gson.JsonObject;
import io.tessera.fuzz.run.Campaign;
import io.tessera.fuzz.run.CampaignResult;
import io.tessera.fuzz.run.CampaignSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Random;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command. Exit code 0: nothing failed; 1: something did; 2: usage. */
@Command(name = "fuzz", mixinStandardHelpOptions = true, sortOptions = false, subcommands = GpuCommand.class, description = "Runs generated kernels unfenced and fenced on the software GPU, and says where fences leak or change results.")
public final class FuzzMain implements Callable<Integer> {
    @Option(names = "--seed", paramLabel = "N", description = "of the first kernel; the others have the numbers behind it (default: any, and said)")
    private Long seed;
    @Option(names = "--kernels", paramLabel = "N", description = "how many at most")
    private long kernels = Long.MAX_VALUE;
    @Option(names = "--seconds", paramLabel = "N", description = "how long at most (${DEFAULT-VALUE})")
    private long seconds = 60;
    @Option(names = "--threads", paramLabel = "N", description = "devices at once (${DEFAULT-VALUE})")
    private int threads = 1;
    @Option(names = "--assemble", paramLabel = "PTXAS", description = "NVIDIA's assembler, for sm_80 and sm_90a by turns")
    private Path assembler;
    @Option(names = "--assemble-every", paramLabel = "N", description = "of how many fenced texts one goes through it (${DEFAULT-VALUE})")
    private int assembleEvery = 150;
    @Option(names = "--compile-every", paramLabel = "N", description = "of how many kernels one is compiled, not interpreted; 0: none (${DEFAULT-VALUE})")
    private int compileEvery = 64;
    @Option(names = "--verify-every", paramLabel = "N", description = "of how many kernels the verifier looks at one's fenced texts; 0: none (${DEFAULT-VALUE})")
    private int verifyEvery = 16;
    @Option(names = "--save", paramLabel = "DIR", description = "where failing kernels are kept, made small (${DEFAULT-VALUE})")
    private Path save = Path.of("fuzz-failures");
    @Option(names = "--most-failures", paramLabel = "N", description = "number after which it ends (${DEFAULT-VALUE})")
    private int mostFailures = 20;
    @Option(names = "--commit", paramLabel = "HASH", description = "of the tree, for the result")
    private String commit = "";
    @Option(names = "--json", paramLabel = "FILE", description = "where the result is written as JSON, every ten seconds too; else it goes to standard output")
    private Path json;

    /** Runs the command. */
    public static void main(String[] arguments) {
        System.exit(new CommandLine(new FuzzMain()).execute(arguments));
    }

    @Override
    public Integer call() throws InterruptedException {
        long first = seed == null ? new Random().nextLong() >>> 16 : seed;
        System.err.println("seed " + first + ", " + threads + " threads, at most " + seconds + " s");
        Campaign campaign = new Campaign(
                new CampaignSettings(first, kernels, seconds, threads, assembler, assembleEvery, compileEvery, verifyEvery, save, mostFailures),
                System.err::println);
        campaign.run(this::keep);
        CampaignResult result = campaign.result();
        if (json == null) {
            System.out.println(said(result));
        } else {
            keep(result);
        }
        System.err.printf("%d kernels in %.0f s, %.1f a second; failures: %d%n", result.kernels(), result.seconds(),
                result.kernels() / result.seconds(),
                result.failures().size());
        return result.held() ? 0 : 1;
    }

    private JsonObject said(CampaignResult result) {
        JsonObject said = new JsonObject();
        said.addProperty("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
        said.addProperty("commit", commit);
        JsonObject machine = new JsonObject();
        machine.addProperty("device", "software GPU");
        machine.addProperty("cpus", Runtime.getRuntime().availableProcessors());
        machine.addProperty("threads", threads);
        machine.addProperty("kernel", System.getProperty("os.version"));
        machine.addProperty("java", System.getProperty("java.vm.version"));
        said.add("machine", machine);
        result.json().entrySet().forEach(entry -> said.add(entry.getKey(), entry.getValue()));
        return said;
    }

    /** Replaces the file atomically: a killed run leaves a result that is at most ten seconds old. */
    private void keep(CampaignResult result) {
        if (json == null) {
            return;
        }
        try {
            Path beside = json.resolveSibling(json.getFileName() + ".new");
            Files.writeString(beside, said(result) + "\n");
            Files.move(beside, json, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
