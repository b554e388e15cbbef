package io.tessera.autotalk;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads a driver header into a {@link Description}. The C preprocessor does what a preprocessor does: the header is run
 * through {@code cc -E} once for each of its faces (present names, old ABI forms, per-thread default streams), since
 * its macros rename the same prototypes. By-value structures are measured by the compiler too.
 */
final class HeaderReader {
    /** The faces: without and with old forms, each without and with per-thread default streams (cuda.h). */
    private static final List<List<String>> FACES = List.of(List.of(),
            List.of("-DCUDA_API_PER_THREAD_DEFAULT_STREAM"), List.of("-D__CUDA_API_VERSION_INTERNAL"),
            List.of("-D__CUDA_API_VERSION_INTERNAL", "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"));
    private static final Pattern VERSION = Pattern.compile("#define\\s+CUDA_VERSION\\s+(\\d+)");
    private static final int COMPILER_SECONDS = 60;

    private final String compiler;

    HeaderReader(String compiler) {
        this.compiler = compiler;
    }

    /** Reads the headers; the first gives the version. */
    Description read(List<Path> headers) {
        PrototypeParser parser = new PrototypeParser();
        TreeMap<String, String> sources = new TreeMap<>();
        String version = "unknown";
        for (Path header : headers) {
            String text = readText(header);
            Matcher m = VERSION.matcher(text);
            version = m.find() ? m.group(1) : version;
            sources.put(header.getFileName().toString(), version);
            for (List<String> face : FACES) {
                parser.parse(preprocess(header, face), header.getFileName().toString());
            }
        }
        Set<String> values = parser.valueTypes();
        return new Description(sources, measure(headers, values), parser.entries());
    }

    private static String readText(Path header) {
        try {
            return Files.readString(header, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw new AutotalkException("cannot read the header " + header + ": " + e.getMessage(), e);
        }
    }

    private String preprocess(Path header, List<String> defines) {
        List<String> command = new ArrayList<>(List.of(compiler, "-E", "-P", "-x", "c"));
        command.addAll(defines);
        command.add("-I" + header.toAbsolutePath().getParent());
        command.add(header.toString());
        return run(command);
    }

    /** Sizes by negative array bounds would need many runs; an assembly listing of constants needs one. */
    private TreeMap<String, Integer> measure(List<Path> headers, Set<String> types) {
        TreeMap<String, Integer> sizes = new TreeMap<>();
        if (types.isEmpty()) {
            return sizes;
        }
        List<String> ordered = new ArrayList<>(new LinkedHashSet<>(types));
        StringBuilder source = new StringBuilder();
        headers.forEach(h -> source.append("#include \"").append(h.toAbsolutePath()).append("\"\n"));
        for (int i = 0; i < ordered.size(); i++) {
            source.append("char tessera_size_").append(i).append("[sizeof(").append(ordered.get(i)).append(")];\n");
        }
        try {
            Path file = Files.createTempFile("autotalk", ".c");
            try {
                Files.writeString(file, source);
                String assembly = run(List.of(compiler, "-S", "-fno-common", "-o", "-",
                        "-I" + headers.getFirst().toAbsolutePath().getParent(), file.toString()));
                for (int i = 0; i < ordered.size(); i++) {
                    Matcher m = Pattern.compile("\\.size\\s+tessera_size_" + i + ",\\s*(\\d+)").matcher(assembly);
                    if (!m.find()) {
                        throw new AutotalkException("the compiler does not tell the size of " + ordered.get(i));
                    }
                    sizes.put(ordered.get(i), Integer.parseInt(m.group(1)));
                }
            } finally {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new AutotalkException("cannot measure by-value structures: " + e.getMessage(), e);
        }
        return sizes;
    }

    private static String run(List<String> command) {
        try {
            Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.ISO_8859_1);
            if (!process.waitFor(COMPILER_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AutotalkException("no answer within " + COMPILER_SECONDS + " s: " + command);
            }
            if (process.exitValue() != 0) {
                throw new AutotalkException("failed with " + process.exitValue() + ": " + String.join(" ", command));
            }
            return output;
        } catch (IOException e) {
            throw new AutotalkException("cannot run " + command.getFirst() + " (a C compiler is needed): "
                    + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AutotalkException("interrupted while running " + Arrays.toString(command.toArray()), e);
        }
    }
}
