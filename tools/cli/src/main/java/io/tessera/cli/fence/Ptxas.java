package io.tessera.cli.fence;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The assembler {@code ptxas} of a CUDA toolkit, run in a process for each module. Thread-safe. */
final class Ptxas implements Assembler {
    private static final long PATIENCE_MINUTES = 30;
    private static final Pattern KERNEL = Pattern.compile("ptxas info\\s*: Compiling entry function '([^']+)'");
    private static final Pattern PROPERTIES = Pattern.compile("ptxas info\\s*: Function properties for (\\S+)");
    private static final Pattern STACK = Pattern.compile(
            "(\\d+) bytes stack frame, (\\d+) bytes spill stores, (\\d+) bytes spill loads");
    private static final Pattern USED = Pattern.compile("ptxas info\\s*: Used (\\d+) registers");
    private static final Pattern COMPLAINT = Pattern.compile("(?m)^ptxas .*(?:error|fatal)\\s*: .*$");

    private final Path program;

    /** Creates an assembler that runs a program. */
    Ptxas(Path program) {
        this.program = program;
    }

    /** Finds the program by the search path, {@code CUDA_HOME} and the usual folder; empty: there is none. */
    static Optional<Path> find(Map<String, String> environment) {
        String path = environment.getOrDefault("PATH", "") + File.pathSeparator
                + environment.getOrDefault("CUDA_HOME", "/usr/local/cuda") + "/bin";
        return Stream.of(path.split(File.pathSeparator)).filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, "ptxas")).filter(Files::isExecutable).findFirst();
    }

    @Override
    public Assembled assemble(String ptx, String target, List<String> options)
            throws RefusedException, IOException, InterruptedException {
        Path folder = Files.createTempDirectory("tessera-fence-");
        Path source = folder.resolve("module.ptx");
        Path code = folder.resolve("module.cubin");
        Path said = folder.resolve("said");
        try {
            Files.writeString(source, ptx);
            List<String> command = new ArrayList<>(List.of(program.toString(), "-v", "-arch=sm_" + target));
            command.addAll(options);
            command.addAll(List.of("-o", code.toString(), source.toString()));
            Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(said.toFile())
                    .start();
            boolean ended = false;
            try {
                ended = process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES);
            } finally {
                process.destroyForcibly();
            }
            String text = Files.readString(said, StandardCharsets.ISO_8859_1);
            if (!ended || process.exitValue() != 0 || !Files.exists(code)) {
                throw new RefusedException(ended ? complaint(text) : "ptxas did not end in " + PATIENCE_MINUTES + " minutes");
            }
            return new Assembled(Files.readAllBytes(code), kernels(text));
        } finally {
            for (Path file : List.of(source, code, said, folder)) {
                Files.deleteIfExists(file);
            }
        }
    }

    private static String complaint(String text) {
        Matcher found = COMPLAINT.matcher(text);
        return found.find() ? found.group().replaceAll("^ptxas (\\S*module\\.ptx, )?", "ptxas: ") : "ptxas failed: "
                + text.strip().lines().findFirst().orElse("it said nothing");
    }

    /** Parses the output of {@code ptxas -v} about each kernel. */
    static Map<String, KernelResources> kernels(String text) {
        Map<String, KernelResources> kernels = new HashMap<>();
        String kernel = null;
        boolean own = false;
        int stack = 0;
        int spills = 0;
        for (String line : text.split("\n")) {
            Matcher compiling = KERNEL.matcher(line);
            Matcher properties = PROPERTIES.matcher(line);
            Matcher frame = STACK.matcher(line);
            Matcher used = USED.matcher(line);
            if (compiling.find()) {
                kernel = compiling.group(1);
                stack = 0;
                spills = 0;
            } else if (properties.find()) {
                own = properties.group(1).equals(kernel);
            } else if (frame.find() && own) {
                stack = Integer.parseInt(frame.group(1));
                spills = Integer.parseInt(frame.group(2)) + Integer.parseInt(frame.group(3));
            } else if (used.find() && kernel != null) {
                kernels.put(kernel, new KernelResources(Integer.parseInt(used.group(1)), stack, spills));
                kernel = null;
            }
        }
        return kernels;
    }
}
