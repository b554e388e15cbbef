package io.tessera.fuzz.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** NVIDIA's assembler on fenced text. Thread-safe. */
final class Assembler {
    private static final long PATIENCE_S = 120;
    private static final String NEW = "sm_90a";
    private static final List<String> ARCHITECTURES = List.of("sm_80", NEW);

    private final Path program;
    private final AtomicLong texts = new AtomicLong();

    Assembler(Path program) {
        this.program = program;
    }

    /**
     * What it has against a text, for one architecture or the other by turns; empty: nothing.
     *
     * @param clusters whether the text has to do with clusters, which no GPU before sm_90 has
     */
    String complaint(String text, boolean clusters) throws IOException, InterruptedException {
        String architecture = clusters ? NEW : ARCHITECTURES.get((int) (texts.getAndIncrement() % ARCHITECTURES.size()));
        String complaint = complaint(text.replace(".target sm_90", ".target " + (architecture.equals(NEW) ? "sm_90" : architecture)), architecture);
        return complaint.isEmpty() ? "" : architecture + ": " + complaint;
    }

    private String complaint(String text, String architecture) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("fuzz");
        Path source = folder.resolve("k.ptx");
        Path said = folder.resolve("said");
        try {
            Files.writeString(source, text);
            Process process = new ProcessBuilder(program.toString(), "-O1", "-arch=" + architecture, "-o", folder.resolve("k.cubin").toString(), source.toString())
                    .redirectErrorStream(true).redirectOutput(said.toFile()).start();
            if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                return "does not end within " + PATIENCE_S + " s";
            }
            return process.exitValue() == 0 ? "" : "ends with " + process.exitValue() + ": " + Files.readString(said).strip();
        } finally {
            for (String name : List.of("k.ptx", "k.cubin", "said")) {
                Files.deleteIfExists(folder.resolve(name));
            }
            Files.deleteIfExists(folder);
        }
    }
}
