package io.tessera.fuzz.run;

import io.tessera.fuzz.generate.GeneratedKernel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Runs NVIDIA's assembler on bundles of fenced texts. Thread-safe; the thread that completes a bundle waits for it. */
final class BatchAssembler {
    private static final long PATIENCE_S = 120;
    private static final int BUNDLE = 16;
    private static final String NEW = "sm_90a";
    private static final List<String> ARCHITECTURES = List.of("sm_80", NEW);

    private final Path program;
    private final Map<String, List<Text>> waiting = new HashMap<>();
    private final AtomicInteger assembled = new AtomicInteger();
    private int next;

    /** A fenced text and its kernel. */
    record Text(GeneratedKernel kernel, String mode, String text) {
    }

    /** An error of the assembler about a text. */
    record Complaint(Text text, String what) {
    }

    BatchAssembler(Path program) {
        this.program = program;
    }

    /** Returns the number of assembled texts. */
    int assembled() {
        return assembled.get();
    }

    /** Adds a text, for alternating architectures; returns the errors about the bundle that it completes, if any. */
    List<Complaint> take(Text text) throws IOException, InterruptedException {
        String architecture;
        List<Text> full;
        synchronized (this) {
            // No GPU before sm_90 has clusters.
            architecture = text.text().contains("cluster") ? NEW : ARCHITECTURES.get(next++ % ARCHITECTURES.size());
            List<Text> bundle = waiting.computeIfAbsent(architecture, a -> new ArrayList<>());
            bundle.add(text);
            full = bundle.size() < BUNDLE ? List.of() : waiting.remove(architecture);
        }
        return complaints(full, architecture);
    }

    /** Assembles the remaining texts. */
    List<Complaint> rest() throws IOException, InterruptedException {
        List<Complaint> all = new ArrayList<>();
        for (String architecture : ARCHITECTURES) {
            List<Text> bundle;
            synchronized (this) {
                bundle = waiting.remove(architecture);
            }
            all.addAll(complaints(bundle == null ? List.of() : bundle, architecture));
        }
        return all;
    }

    private List<Complaint> complaints(List<Text> texts, String architecture) throws IOException, InterruptedException {
        if (texts.isEmpty() || complaint(Bundle.of(texts.stream().map(Text::text).toList()), architecture).isEmpty()) {
            assembled.addAndGet(texts.size());
            return List.of();
        }
        List<Complaint> found = new ArrayList<>();
        for (Text text : texts) {
            String what = complaint(text.text(), architecture);
            assembled.incrementAndGet();
            if (!what.isEmpty()) {
                found.add(new Complaint(text, architecture + ": " + what));
            }
        }
        if (found.isEmpty()) {
            throw new IllegalStateException(
                    "the assembler takes each of " + texts.size() + " texts, but not all in one, from seed " + texts.getFirst().kernel().seed());
        }
        return found;
    }

    private String complaint(String text, String architecture) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory("fuzz");
        Path source = folder.resolve("k.ptx");
        Path said = folder.resolve("said");
        try {
            Files.writeString(source, architecture.equals(NEW) ? text : text.replace(".target sm_90", ".target " + architecture));
            Process process = new ProcessBuilder(program.toString(), "-O1", "-arch=" + architecture, "-o", folder.resolve("k.cubin").toString(),
                    source.toString())
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
