package io.tessera.autotalk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.autotalk.description.Description;
import io.tessera.autotalk.description.DescriptionDiff;
import io.tessera.autotalk.description.DescriptionText;
import io.tessera.autotalk.description.Field;
import io.tessera.autotalk.description.NamedType;
import io.tessera.autotalk.description.TypeClass;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Holds the committed description against the vendor's own headers, where a toolkit of that version is installed: in
 * {@code $CUDA_HOME}, {@code $CUDA_PATH}, {@code /usr/local/cuda*}, {@code /opt/cuda*} or {@code /usr}. Skipped where not.
 */
class ToolkitTest {
    private static final int COMPILER_LIMIT_SECONDS = 60;

    @TempDir
    private Path directory;
    private final Description committed = Repository.cuda().description();
    private Path include;

    @BeforeEach
    void toolkit() throws IOException {
        String version = committed.sources().getFirst().replaceFirst(".* ", "");
        Optional<Path> found = Optional.empty();
        for (Path candidate : candidates()) {
            Path header = candidate.resolve("include/cuda.h");
            if (found.isEmpty() && Files.isRegularFile(header)
                    && Files.readString(header).contains("#define CUDA_VERSION " + version)) {
                found = Optional.of(candidate.resolve("include"));
            }
        }
        Assumptions.assumeTrue(found.isPresent(), "no CUDA toolkit " + version + " is installed here");
        include = found.get();
    }

    private static List<Path> candidates() throws IOException {
        List<Path> candidates = new ArrayList<>();
        Stream.of("CUDA_HOME", "CUDA_PATH").map(System::getenv).filter(path -> path != null && !path.isEmpty())
                .map(Path::of).forEach(candidates::add);
        for (String parent : List.of("/usr/local", "/opt")) {
            if (Files.isDirectory(Path.of(parent))) {
                try (Stream<Path> children = Files.list(Path.of(parent))) {
                    children.filter(path -> path.getFileName().toString().startsWith("cuda")).sorted()
                            .forEach(candidates::add);
                }
            }
        }
        candidates.add(Path.of("/usr"));
        return candidates;
    }

    @Test
    void theHeadersStillSayWhatIsCommitted() throws IOException {
        List<String> arguments = new ArrayList<>(List.of("describe", "--names",
                Repository.API.resolve("cuda-580.names").toString()));
        for (String source : committed.sources()) {
            String name = source.split(" ")[0];
            if (name.endsWith(".h")) {
                arguments.addAll(List.of("--header", include.resolve(name).toString()));
            }
        }
        for (String versions : List.of("cudaTypedefs.h", "cudaGLTypedefs.h", "cudaEGLTypedefs.h", "cudaVDPAUTypedefs.h",
                "cudaProfilerTypedefs.h")) {
            arguments.addAll(List.of("--versions", include.resolve(versions).toString()));
        }
        Path api = directory.resolve("cuda.api");
        arguments.addAll(List.of("--out", api.toString()));
        Run run = Run.of(arguments.toArray(String[]::new));
        assertEquals(0, run.code(), run.err());
        Description read = DescriptionText.read("installed", Files.readString(api));
        assertEquals("", DescriptionDiff.between(committed, read).text());
        assertEquals(Repository.text("cuda.api"), Files.readString(api));
    }

    /** The compiler's opinion on the size, alignment and members of every structure that cuda.h shows. */
    @Test
    void theCompilerAgreesOnSizesAndOffsets() throws IOException, InterruptedException {
        StringBuilder source = new StringBuilder("#include <cuda.h>\n#include <stddef.h>\n");
        int checked = 0;
        for (NamedType type : committed.types().values()) {
            boolean shown = type.typeClass() == TypeClass.VALUE && !type.name().startsWith("CUegl");
            if (shown) {
                source.append("_Static_assert(sizeof(").append(type.name()).append(") == ").append(type.bytes())
                        .append(" && _Alignof(").append(type.name()).append(") == ").append(type.alignment())
                        .append(", \"").append(type.name()).append("\");\n");
                for (Field field : committed.fields().getOrDefault(type.name(), List.of())) {
                    source.append("_Static_assert(offsetof(").append(type.name()).append(", ").append(field.path())
                            .append(") == ").append(field.offset()).append(", \"").append(field.path()).append("\");\n");
                }
                checked++;
            }
        }
        assertTrue(checked > 50, "only " + checked + " structures");
        Path file = Files.writeString(directory.resolve("sizes.c"), source.toString());
        Path output = directory.resolve("output.txt");
        Process gcc = new ProcessBuilder("gcc", "-std=c11", "-fsyntax-only", "-D__CUDA_API_VERSION_INTERNAL", "-I", include.toString(),
                file.toString())
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        boolean ended = gcc.waitFor(COMPILER_LIMIT_SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            gcc.destroyForcibly();
        }
        assertTrue(ended && gcc.exitValue() == 0, Files.readString(output));
    }
}
