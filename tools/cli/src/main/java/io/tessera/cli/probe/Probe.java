package io.tessera.cli.probe;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Runs {@code tessera-probe --json} in a separate process, since it loads the vendor's driver. */
public final class Probe {
    /** A driver that has to start the GPU first takes some seconds; a hanging one must not hang the doctor. */
    public static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final int MAX_OUTPUT_BYTES = 4 << 20;

    /** Result of the probe. */
    public sealed interface Outcome {
    }

    /** The probe's report. */
    public record Reported(ProbeReport report) implements Outcome {
    }

    /** The probe gave no usable report. */
    public record Failed(String reason, String advice) implements Outcome {
    }

    private Probe() {
    }

    /** Runs the program, waiting at most {@code patience}. */
    public static Outcome run(Path program, Duration patience) throws InterruptedException {
        if (!Files.isExecutable(program)) {
            return new Failed("cannot execute " + program, "build it: tools/build; in a kit, unpack the kit again");
        }
        Process process;
        try {
            process = new ProcessBuilder(program.toString(), "--json").redirectErrorStream(false)
                    .redirectError(ProcessBuilder.Redirect.DISCARD).start();
            process.getOutputStream().close();
        } catch (IOException e) {
            return new Failed("cannot start " + program + ": " + e.getMessage(), "build it again: tools/build");
        }
        try {
            return outcome(program, process, patience);
        } finally {
            process.destroyForcibly();
        }
    }

    private static Outcome outcome(Path program, Process process, Duration patience) throws InterruptedException {
        FutureTask<String> output = new FutureTask<>(() -> read(process.getInputStream()));
        Thread.ofPlatform().daemon().name("probe-output").start(output);
        String text;
        try {
            text = output.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return new Failed(program + " did not end within " + patience.toSeconds() + " s: the driver hangs",
                    "look at dmesg for messages of the driver (Xid), and whether nvidia-smi answers");
        } catch (ExecutionException e) {
            return new Failed("cannot read what " + program + " says: " + e.getCause().getMessage(), "try again");
        }
        if (!process.waitFor(patience.toNanos(), TimeUnit.NANOSECONDS)) {
            return new Failed(program + " said its piece but did not end", "look at dmesg for messages of the driver");
        }
        return ProbeReport.parse(text).<Outcome>map(Reported::new).orElseGet(() -> new Failed(
                program + " ended with exit code " + process.exitValue() + " and no report",
                "run it by hand: " + program));
    }

    private static String read(InputStream stream) throws IOException {
        return new String(stream.readNBytes(MAX_OUTPUT_BYTES), StandardCharsets.UTF_8);
    }
}
