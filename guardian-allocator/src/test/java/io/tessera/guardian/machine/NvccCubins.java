package io.tessera.guardian.machine;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Cubins that nvcc makes of the kernels of tests. Stateless. */
public final class NvccCubins {
    private static final Path RESOURCES = Path.of("src/test/resources");
    private static final Path COMPILED = Path.of("target/nvcc");
    private static final int SECONDS = 120;

    private NvccCubins() {
    }

    /** Skips the tests of a class where there is no compiler. */
    public static void require() {
        assumeTrue(find("nvcc").isPresent(), "skipped: no nvcc on the PATH nor in /usr/local/cuda/bin");
        assumeTrue(find("g++").isPresent(), "skipped: nvcc has no host compiler, there is no g++ on the PATH");
    }

    /** The disassembler; skips the tests of a class where there is none. */
    public static Path requireDisassembler() {
        String named = System.getenv("TESSERA_NVDISASM");
        Optional<Path> found = named == null ? find("nvdisasm") : Optional.of(Path.of(named));
        assumeTrue(found.isPresent() && Files.isExecutable(found.get()), "skipped: no nvdisasm, neither by TESSERA_NVDISASM nor on the PATH");
        return found.get();
    }

    /** A program on the PATH or beside nvcc. */
    public static Optional<Path> find(String name) {
        String path = System.getenv("PATH") + File.pathSeparator + "/usr/local/cuda/bin";
        return Stream.of(path.split(File.pathSeparator)).filter(entry -> !entry.isEmpty()).map(entry -> Path.of(entry, name))
                .filter(Files::isExecutable).findFirst();
    }

    /**
     * Compiles a source, by its name below the resources of tests without {@code .cu}; once for all classes of a run, and again where source
     * or compiler have changed.
     *
     * @param folder  where the compiler works
     * @param options of the compiler, besides the architecture
     */
    public static byte[] compile(Path folder, String source, String architecture, String... options) throws IOException, InterruptedException {
        Path nvcc = find("nvcc").orElseThrow().toRealPath();
        Path file = RESOURCES.resolve(source + ".cu");
        List<String> command = Stream.of(Stream.of(nvcc.toString(), "-cubin", "-std=c++17", "-arch=" + architecture), Stream.of(options),
                Stream.of(file.toString(), "-o")).flatMap(part -> part).toList();
        Path cubin = COMPILED.resolve(digest(command + " " + Files.getLastModifiedTime(nvcc), Files.readAllBytes(file)) + ".cubin");
        if (!Files.exists(cubin)) {
            Path made = folder.resolve(cubin.getFileName());
            run(folder, Stream.concat(command.stream(), Stream.of(made.toString())).toList());
            Files.createDirectories(COMPILED);
            Path whole = Files.copy(made, COMPILED.resolve(cubin.getFileName() + "." + ProcessHandle.current().pid()),
                    StandardCopyOption.REPLACE_EXISTING);
            Files.move(whole, cubin, StandardCopyOption.ATOMIC_MOVE); // another class may compile the same at this moment
        }
        return Files.readAllBytes(cubin);
    }

    private static String digest(String command, byte[] source) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(command.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest(source));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /** Runs a program and returns what it prints. */
    public static String run(Path folder, List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile(folder, "output", ".txt");
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
        boolean ended = process.waitFor(SECONDS, TimeUnit.SECONDS);
        if (!ended) {
            process.destroyForcibly();
        }
        String printed = Files.readString(output);
        assertTrue(ended && process.exitValue() == 0, () -> command + " failed: " + printed);
        return printed;
    }
}
